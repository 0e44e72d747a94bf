"""A clock that a test moves, a store in memory with an agent, and the scheduler over both."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from exec_daemon.calls.registry import registry
from exec_daemon.ops import ALLOWLIST
from exec_daemon.store import Agent, MemoryStore
from exec_daemon.store.timer_values import Timer, TimerRun, TimerState, TimerStep
from exec_daemon.timers.desk import TimerDesk
from exec_daemon.timers.plan import Plan, timing_fields
from exec_daemon.timers.reading import read_schedule
from exec_daemon.timers.rules import upcoming
from exec_daemon.timers.scheduler import Scheduler
from messaging import AuthorKind, Message, MessageKind, NewMessage, OpInfo
from messaging.moment import iso
from tests.contracts.samples import Ids

OPS = registry(ALLOWLIST).infos


@dataclass
class Scene:
    """`now` is the time that everything here sees; `barred` are those who may wake nobody any more."""

    store: MemoryStore
    now: datetime
    new_id: Ids
    desk: TimerDesk = field(init=False)
    scheduler: Scheduler = field(init=False)
    barred: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        async def ops_for(_agent: str) -> Sequence[OpInfo]:
            return OPS

        def may_wake(timer: Timer) -> bool:
            return timer.created_by not in self.barred

        self.scheduler = Scheduler(self.store, self.clock, self.new_id, ops_for, may_wake)
        self.desk = TimerDesk(
            store=self.store, clock=self.clock, new_id=self.new_id, ops_for=ops_for, may_wake=may_wake
        )

    def clock(self) -> str:
        return iso(self.now)

    async def make(self, schedule: str = "1m", *, tz: str = "UTC", **policies: Any) -> Timer:
        read = read_schedule(schedule, None, tz=tz, now=self.now)
        plan = Plan(**{"tz": tz, "prompt": "Look.", **timing_fields(read, schedule), **policies})
        timer_id = self.new_id("tmr")
        timer = Timer(
            id=timer_id,
            name=timer_id,
            created_by="operator/local",
            agent="heron",
            plan=plan.to_json(),
            state=TimerState.ACTIVE,
            created_at=self.clock(),
            updated_at=self.clock(),
        )
        timer = upcoming(timer, plan, self.now)
        assert await self.store.step_timer(TimerStep(timer=timer, was=None))
        return timer

    async def go(self, **by: float) -> None:
        """Time passes at once, as for a daemon that was away; then what is due is dealt with."""
        self.now += timedelta(**by)
        while await self.scheduler.look() == 0:
            pass

    async def live(self, seconds: int) -> None:
        """Time passes second by second."""
        for _ in range(seconds):
            await self.go(seconds=1)

    async def reply(self, body: str = "done", to: str | None = None, thread: str = "heron") -> Message:
        new = NewMessage(
            thread=thread,
            author="heron",
            author_kind=AuthorKind.AGENT,
            kind=MessageKind.TEXT,
            body=body,
            in_reply_to=to,
        )
        return (await self.store.append(new)).message

    async def runs(self, timer: Timer) -> list[TimerRun]:
        """The oldest first."""
        return (await self.store.timer_runs(timer.id, 10_000))[::-1]

    async def timer(self, timer: Timer) -> Timer:
        found = await self.store.timer(timer.id)
        assert found is not None
        return found


@pytest.fixture
async def scene() -> AsyncIterator[Scene]:
    new_id = Ids()
    store = MemoryStore(new_id=new_id)
    await store.add_agent(Agent(name="heron", thread="heron"))
    yield Scene(store, datetime(2026, 12, 1, 9, tzinfo=UTC), new_id)
    await store.close()
