"""The task that applies the rules when it is time. It knows nothing that the store does not know.

It sleeps until the next moment that the store names, and is woken by every change of a timer. Whatever it
decides is one step that the store takes whole or refuses, because somebody else was faster; then it looks
again. So it may die at any instant: the next one goes on from the store (T-69).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from exec_daemon.store.errors import StoreClosed, StoreError, StoreUnavailable
from exec_daemon.store.port import Store
from exec_daemon.store.sources import Clock, NewId
from exec_daemon.store.timer_port import TIMERS
from exec_daemon.store.timer_values import RunState, Timer, TimerRun, TimerStep
from exec_daemon.timers.changes import pause
from exec_daemon.timers.gatekeeper import Gatekeeper, gate_of
from exec_daemon.timers.gates import Gates
from exec_daemon.timers.look import Address, Due, moment
from exec_daemon.timers.present import MayWake, OpsFor, address_of, look_at
from exec_daemon.timers.rules import fire, send_queued
from exec_daemon.timers.turns import missing, nudged, postponed
from messaging.moment import iso

log = logging.getLogger(__name__)

# One look takes so many at once; the store commits them together.
_BATCH: Final = 500
# The wall's clock may be set, and a machine may sleep: the time is looked at again after so long.
_LONGEST_NAP_S: Final = 10.0
# A store that cannot be written is asked again; what was due stays due.
_FAULT_PAUSE_S: Final = 1.0
# The cursor of the watcher that reads replies (`harvester/watch.py`).
WATCHER: Final = "watcher"

# A quarter of a year of history: what ran is in the journal and the audit besides.
KEPT: Final = timedelta(days=92)
_FORGET_EVERY: Final = timedelta(hours=1)


@dataclass(slots=True)
class Scheduler:
    """`ops_for` gives the registry as the agent of this name may use it, for its envelope.

    `may_wake` says whether the maker of a timer may still wake its agent: grants change while it waits.
    """

    store: Store
    clock: Clock
    new_id: NewId
    ops_for: OpsFor
    may_wake: MayWake
    gates: Gates = field(default_factory=Gates)
    forgot: datetime | None = None
    keeper: Gatekeeper = field(init=False)

    def __post_init__(self) -> None:
        self.keeper = Gatekeeper(
            store=self.store,
            clock=self.clock,
            new_id=self.new_id,
            ops_for=self.ops_for,
            gates=self.gates,
        )

    async def run(self) -> None:
        """Until it is cancelled."""
        try:
            await self._run()
        finally:
            await self.keeper.close()

    async def _run(self) -> None:
        with self.store.subscribe(TIMERS) as changes:
            while True:
                try:
                    await self._forget()
                    nap_s = await self.look()
                except StoreError as fault:
                    log.error("timers wait for the store: %s", fault)  # noqa: TRY400 - its message says all
                    nap_s = _FAULT_PAUSE_S
                if nap_s > 0:
                    await changes.wait(min(nap_s, _LONGEST_NAP_S))

    async def _forget(self) -> None:
        """Now and then, the history that nobody will ask for any more."""
        now = moment(self.clock())
        if self.forgot is None or now - self.forgot > _FORGET_EVERY:
            self.forgot = now
            await self.store.forget_runs(iso(now - KEPT))

    async def look(self) -> float:
        """Deals with what is due; the seconds until something will be, 0 where more is due now."""
        now = self.clock()
        timers = await self.store.due_timers(now, _BATCH)
        runs = await self.store.waking_runs(now, _BATCH)
        if timers or runs:
            addresses = await self._addresses({timer.agent for timer in timers})
            await asyncio.gather(
                *(self._guarded(self._fire(timer, now, addresses), timer.id) for timer in timers),
                *(self._guarded(self._wake(run, now), run.timer) for run in runs),
            )
            return 0.0
        following = await self.store.next_timer_at()
        if following is None:
            return _LONGEST_NAP_S
        return max(0.001, (moment(following) - moment(self.clock())).total_seconds())

    async def _guarded(self, work: Awaitable[None], timer_id: str) -> None:
        """One timer that cannot be dealt with holds up no other: it is paused, and says why."""
        try:
            await work
        except (StoreUnavailable, StoreClosed):
            raise
        except Exception:
            log.exception("the timer %s cannot be dealt with and is paused", timer_id)
            await self._set_aside(timer_id)

    async def _addresses(self, agents: set[str]) -> Mapping[str, Address | None]:
        """Many timers that are due at once often wake the same few agents."""
        return {name: await address_of(self.store, name, self.ops_for) for name in agents}

    async def _fire(self, timer: Timer, now: str, addresses: Mapping[str, Address | None]) -> None:
        due = await self._due(timer, now, addresses[timer.agent])
        if due is not None:
            await self._take(fire(due))

    async def _wake(self, seen: TimerRun, now: str) -> None:
        look = await look_at(self.store, seen.timer, now, self.new_id)
        # As it stands beside the timer's version: meanwhile it may have ended.
        run = next((one for one in look.runs if one.due == seen.due), None) if look else None
        if look is None or run is None or run.wake_at != seen.wake_at:
            return
        gate = gate_of(look)
        if run.state is RunState.QUEUED and gate is not None:
            if await self._allowed(look.timer):
                await self.keeper.ask(look, run, gate)
        elif run.state is RunState.QUEUED:
            await self._send_queued(look.timer, run, now)
        elif not run.nudged and run.wake_at != run.deadline:
            await self._take(nudged(look, run))
        elif await self._unread(run):
            await self._take(postponed(look, run))
        else:
            await self._take(missing(look, run))

    async def _unread(self, run: TimerRun) -> bool:
        """Has the agent answered what the watcher, which is away or slow, has not read yet?"""
        read = await self.store.cursor(WATCHER)
        sent = await self.store.message(run.message or "")
        if not read or sent is None:
            return False
        later = await self.store.messages(sent.thread, sent.seq)
        return any(one.is_reply and one.position > read for one in later)

    async def _send_queued(self, timer: Timer, run: TimerRun, now: str) -> None:
        due = await self._due(timer, now, await address_of(self.store, timer.agent, self.ops_for))
        if due is not None:
            await self._take(send_queued(due, run))

    async def _due(self, timer: Timer, now: str, address: Address | None) -> Due | None:
        if address is None:
            await self._set_aside(timer.id, f"there is no agent {timer.agent}")
            return None
        if not await self._allowed(timer):
            return None
        runs = await self.store.standing_runs(timer.id)
        return Due(timer=timer, runs=runs, address=address, now=moment(now), new_id=self.new_id)

    async def _allowed(self, timer: Timer) -> bool:
        allowed = self.may_wake(timer)
        if not allowed:
            await self._set_aside(timer.id, f"{timer.created_by} may not wake {timer.agent} any more")
        return allowed

    async def _take(self, step: TimerStep) -> None:
        if not await self.store.step_timer(step):
            log.info("the timer %s changed meanwhile; looking again", step.timer.id)

    async def _set_aside(self, timer_id: str, why: str = "a fault of the daemon; its log has it") -> None:
        look = await look_at(self.store, timer_id, self.clock(), self.new_id)
        if look is not None:
            await self.store.step_timer(pause(look, why))
