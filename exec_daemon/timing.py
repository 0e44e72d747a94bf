"""The scheduler of a daemon: what it is given, and how long it lives."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

from exec_daemon.access.decide import decide
from exec_daemon.access.identity import Identity, Role, identity
from exec_daemon.access.rules import Facts
from exec_daemon.access.stack import Grants
from exec_daemon.calls.registry import Registry
from exec_daemon.store import Store, random_id, utc_now
from exec_daemon.timers.desk import TimerDesk
from exec_daemon.timers.gates import Gates
from exec_daemon.timers.scheduler import Scheduler
from messaging import OpInfo


def ops_of(registry: Registry, grants: Grants, agent: str) -> Sequence[OpInfo]:
    """The registry as the agent may use it: an envelope names nothing that would be refused."""
    who = Identity(Role.AGENT, agent)
    facts = Facts(grants=grants.of(who))
    return [replace(info, allowed=decide(who, info.name, {}, facts).allowed) for info in registry.infos]


def may_wake(grants: Grants, who: Identity | None, agent: str) -> bool:
    """Could it make a timer now that wakes this agent?"""
    if who is None:
        return False
    return decide(who, "cron.create", {"target": agent}, Facts(grants=grants.of(who))).allowed


def timer_desk(store: Store, registry: Registry, grants: Grants, gates: Gates) -> TimerDesk:
    """What the endpoints ask."""

    async def ops_for(agent: str) -> Sequence[OpInfo]:
        return ops_of(registry, grants, agent)

    return TimerDesk(
        store=store,
        clock=utc_now,
        new_id=random_id,
        ops_for=ops_for,
        may_wake=lambda timer: may_wake(grants, identity(timer.created_by), timer.agent),
        gates=gates,
    )


@asynccontextmanager
async def timers_run(desk: TimerDesk) -> AsyncIterator[None]:
    """Timers fire inside."""
    scheduler = Scheduler(
        store=desk.store,
        clock=desk.clock,
        new_id=desk.new_id,
        ops_for=desk.ops_for,
        may_wake=desk.may_wake,
        gates=desk.gates,
    )
    task = asyncio.create_task(scheduler.run(), name="timers")
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
