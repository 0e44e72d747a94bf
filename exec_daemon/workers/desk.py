"""What a host says of a worker, and what follows from it for its job and its owner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from exec_daemon.store.errors import Outdated
from exec_daemon.store.port import Store
from exec_daemon.store.sources import Clock, NewId
from exec_daemon.store.timer_values import UNDER_WAY, Post, TimerRun, TimerStep
from exec_daemon.store.worker_values import NEXT, OVER, Worker, WorkerState, WorkerStep
from exec_daemon.timers.look import Look
from exec_daemon.timers.present import TRIES, look_at
from exec_daemon.timers.turns import EXITED, Said, ended
from exec_daemon.workers.spawning import AUTHOR
from messaging import AuthorKind, MessageKind, NewMessage, one_line
from messaging.moment import iso


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """How a host has found a worker; what is None stays as it was."""

    state: WorkerState
    reason: str | None = None
    session: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerDesk:
    """One for the daemon."""

    store: Store
    clock: Clock
    new_id: NewId

    async def report(self, worker_id: str, said: Report) -> Worker | None:
        """The worker as it stands now; None where there is none.

        What cannot follow on how it stands changes nothing: who is late finds out from the answer.
        """
        for _ in range(TRIES):
            worker = await self.store.worker(worker_id)
            if worker is None or said.state not in NEXT[worker.state]:
                return worker
            changed = _changed(worker, said, self.clock())
            if changed is None:
                await self.store.beat_worker(worker_id, self.clock())
                return await self.store.worker(worker_id)
            if await self.store.step_workers(await self._step(changed)):
                return changed
        raise Outdated(f"the worker {worker_id!r} keeps changing", worker_id)

    async def _step(self, worker: Worker) -> WorkerStep:
        """An end takes the job along, and tells the owner."""
        if worker.state not in OVER:
            return WorkerStep(changed=(worker,))
        run = await self.store.run_of_job(worker.job)
        look = run and await look_at(self.store, run.timer, self.clock(), self.new_id)
        if run is None or not look:
            return WorkerStep(changed=(worker,))
        steps = tuple(_ends(look, run, worker))
        return WorkerStep(changed=(worker,), steps=steps, posts=self._notices(worker, run))

    def _notices(self, worker: Worker, run: TimerRun) -> tuple[Post, ...]:
        if worker.told is None:
            return ()
        came = run.outcome if run.state not in UNDER_WAY else "no verdict"
        why = run.summary if run.state not in UNDER_WAY else worker.reason
        named = worker.id if worker.name == worker.id else f"{worker.name} ({worker.id})"
        text = f"The worker {one_line(named)} is over: {came}" + (f": {one_line(why)}" if why else "")
        message = NewMessage(
            thread=worker.told,
            author=AUTHOR,
            author_kind=AuthorKind.SYSTEM,
            kind=MessageKind.NOTICE,
            body=f"{text}.",
            job_id=worker.job,
            key=f"{AUTHOR} {worker.id} over",
        )
        return (Post(self.new_id("msg"), message),)


def _changed(worker: Worker, said: Report, at: str) -> Worker | None:
    """None for news that are none."""
    fresh = replace(
        worker,
        state=said.state,
        reason=said.reason or worker.reason,
        session=said.session or worker.session,
    )
    if fresh == worker:
        return None
    over = at if said.state in OVER else None
    return replace(fresh, heartbeat_at=at, updated_at=at, ended_at=over, version=worker.version + 1)


def _ends(look: Look, run: TimerRun, worker: Worker) -> Sequence[TimerStep]:
    """The end of its job, where no verdict came before."""
    if run.state not in UNDER_WAY:
        return ()
    return (ended(look, run, Said(word=EXITED, reply="", summary=worker.reason)),)


def stopped(look: Look, run: TimerRun, worker: Worker, said: Said, at: datetime) -> WorkerStep:
    """The step that has a worker stopped: its job ends now, its processes when the host has seen to it."""
    changed = replace(
        worker,
        state=WorkerState.STOPPING,
        reason=said.summary or worker.reason,
        updated_at=iso(at),
        version=worker.version + 1,
    )
    steps = (ended(look, run, said),) if run.state in UNDER_WAY else ()
    return WorkerStep(changed=(changed,), steps=steps)
