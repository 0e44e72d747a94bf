"""Asks the gates of timers, each run's once at a time, and carries out what they say."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass, field
from typing import Final

from exec_daemon.store.errors import Outdated
from exec_daemon.store.port import Store
from exec_daemon.store.sources import Clock, NewId
from exec_daemon.store.timer_values import RunState, TimerRun, TimerStep
from exec_daemon.timers.gates import Gates
from exec_daemon.timers.gating import asked, let_in, turned_away
from exec_daemon.timers.look import Look
from exec_daemon.timers.plan import Plan
from exec_daemon.timers.present import TRIES, OpsFor, address_of, look_at
from messaging.container import ScriptResult

log = logging.getLogger(__name__)

# Beyond the gate's own limit: for a place among the programs, and for what follows from its word.
_MORE_S: Final = 10.0
# A look at a mailbox takes seconds; a hundred timers that are due at once take turns.
_AT_ONCE: Final = 4


@dataclass(slots=True, kw_only=True)
class Gatekeeper:
    """Knows nothing that matters: after a restart the store's runs are asked about again."""

    store: Store
    clock: Clock
    new_id: NewId
    ops_for: OpsFor
    gates: Gates
    _places: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_AT_ONCE))
    _asking: dict[tuple[str, str], asyncio.Task[None]] = field(default_factory=dict)

    async def ask(self, look: Look, run: TimerRun, gate: str) -> None:
        """Begins to ask, if nobody else has; does not wait for the answer."""
        if not await self.store.step_timer(asked(look, run, self.gates.limit_s(gate) + _MORE_S)):
            return
        key = (run.timer, run.due)
        if key not in self._asking:
            self._asking[key] = asyncio.create_task(self._guarded(run, gate), name=f"gate {gate}")
            self._asking[key].add_done_callback(lambda _: self._asking.pop(key, None))

    async def idle(self) -> None:
        """Until nobody is being asked."""
        while self._asking:
            await asyncio.gather(*self._asking.values(), return_exceptions=True)

    async def close(self) -> None:
        """Whoever is being asked is asked again by the next daemon."""
        for task in list(self._asking.values()):
            task.cancel()
        await self.idle()

    async def _guarded(self, run: TimerRun, gate: str) -> None:
        """What fails here is tried again, when the time for which the run is kept is over."""
        try:
            async with self._places:
                said = await self.gates.ask(gate)
            await self._carry_out(run, said)
        except Exception:
            log.exception("the gate %s of the timer %s is asked again", gate, run.timer)

    async def _carry_out(self, run: TimerRun, said: ScriptResult) -> None:
        for _ in range(TRIES):
            step = await self._step(run, said)
            if step is None or await self.store.step_timer(step):
                return
        raise Outdated(f"the timer {run.timer} keeps changing", run.timer)

    async def _step(self, run: TimerRun, said: ScriptResult) -> TimerStep | None:
        """None where the run is no longer to be: paused, cancelled, or dealt with by another."""
        look = await look_at(self.store, run.timer, self.clock(), self.new_id)
        runs = look.runs if look else ()
        present = next((one for one in runs if one.due == run.due and one.state is RunState.QUEUED), None)
        if look is None or present is None:
            return None
        agent = look.timer.agent
        address = await address_of(self.store, agent, self.ops_for)
        if address is None:
            gone = ScriptResult(wake_agent=False, reason=f"there is no agent {agent}")
            return turned_away(look, present, gone, None)
        if not said.wake_agent:
            return turned_away(look, present, said, address.home)
        return let_in(look.due(address), present, said.data)


def gate_of(look: Look) -> str | None:
    """The gate of the timer, if it has one."""
    return Plan.from_json(look.timer.plan).script
