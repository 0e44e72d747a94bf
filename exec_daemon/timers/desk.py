"""What comes to a timer from outside its schedule: a verdict, a run that somebody asks for, a cancel of one.

Each is one step from what the store has; where something else was faster, it looks again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from exec_daemon.store.errors import Outdated
from exec_daemon.store.port import Store
from exec_daemon.store.sources import Clock, NewId
from exec_daemon.store.timer_values import UNDER_WAY, RunState, Timer, TimerRun, TimerStep
from exec_daemon.timers.gates import Gates
from exec_daemon.timers.look import Look, moment
from exec_daemon.timers.orders import Order, give
from exec_daemon.timers.present import TRIES, MayWake, OpsFor, address_of, look_at
from exec_daemon.timers.rules import run_now
from exec_daemon.timers.turns import CANCELLED, Said, ended, judged
from messaging import Message, MessageKind

_WAITING: Final = frozenset({RunState.OPEN, RunState.BLOCKED})


@dataclass(frozen=True, slots=True, kw_only=True)
class TimerDesk:
    """`ops_for` and `may_wake` as the scheduler's; `gates` are for it."""

    store: Store
    clock: Clock
    new_id: NewId
    ops_for: OpsFor
    may_wake: MayWake
    gates: Gates = field(default_factory=Gates)

    async def verdict(self, reply: Message, said: Said) -> TimerRun | None:
        """The run that the verdict in `reply` is about, as it stands now; None where it is about none.

        A reply says it once: what it has said already is found and not said again.
        """
        for _ in range(TRIES):
            told = await self.store.run_of_reply(reply.id) or await self._said_before(reply)
            run = await self._meant(reply) if told is None else None
            if run is None:
                return told
            if await self._change(run, lambda look, one: judged(look, one, said)):
                return await self.store.run_of_reply(reply.id)
        raise Outdated(f"the timer of the reply {reply.id} keeps changing", reply.id)

    async def _said_before(self, reply: Message) -> TimerRun | None:
        """The run that the reply left blocked, be it blocked or not by now: a notice answers it then."""
        later = await self.store.messages(reply.thread, reply.seq)
        answers = (one for one in later if one.in_reply_to == reply.id and one.kind is MessageKind.NOTICE)
        job = next((one.job_id for one in answers if one.job_id is not None), None)
        return await self.store.run_of_job(job) if job is not None else None

    async def _meant(self, reply: Message) -> TimerRun | None:
        """The run whose message it answers; else the oldest one that waits in its thread for its author."""
        thread = await self.store.thread(reply.thread)
        if thread is None or thread.agent != reply.author:
            return None
        waiting = await self.store.open_runs(reply.thread)
        answered = await self.store.message(reply.in_reply_to) if reply.in_reply_to else None
        jobs = {answered.job_id} if answered is not None and answered.job_id else None
        named = [run for run in waiting if jobs and run.job in jobs]
        if named:
            return named[0]
        sent = [(run, await self.store.message(run.message or "")) for run in waiting]
        return next((run for run, asked in sent if asked is not None and asked.seq < reply.seq), None)

    async def cancel(self, job_id: str, why: str | None = None) -> None:
        """Ends the run with this job, if it has not ended."""
        said = Said(word=CANCELLED, reply="", summary=why)
        for _ in range(TRIES):
            run = await self.store.run_of_job(job_id)
            if run is None or run.state not in UNDER_WAY:
                return
            if await self._change(run, lambda look, one: ended(look, one, said)):
                return
        raise Outdated(f"the timer of the job {job_id} keeps changing", job_id)

    async def run(self, timer: Timer) -> TimerRun | None:
        """One more run, now; None where one is under way or the agent has gone."""
        for _ in range(TRIES):
            address = await address_of(self.store, timer.agent, self.ops_for)
            look = await look_at(self.store, timer.id, self.clock(), self.new_id)
            if look is None or address is None or any(one.state in UNDER_WAY for one in look.runs):
                return None
            step = run_now(look.due(address))
            if await self.store.step_timer(step):
                return step.added[-1]
        raise Outdated(f"the timer {timer.name} keeps changing", timer.name)

    async def order(self, order: Order) -> TimerRun | None:
        """Sends a work order; None where there is no such agent."""
        address = await address_of(self.store, order.agent, self.ops_for)
        if address is None:
            return None
        step = give(order, address, moment(self.clock()), self.new_id)
        await self.store.step_timer(step)
        return step.added[-1]

    async def _change(self, run: TimerRun, rule: Callable[[Look, TimerRun], TimerStep]) -> bool:
        """One try. False where the timer or the run is no longer as it was."""
        look = await look_at(self.store, run.timer, self.clock(), self.new_id)
        present = next((one for one in look.runs if one.due == run.due), None) if look else None
        if look is None or present is None or present.state not in _WAITING:
            return False
        return await self.store.step_timer(rule(look, present))
