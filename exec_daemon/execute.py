"""The way of one call: admit, journal.begin, run, journal.finish (DESIGN "The way of one reply", "Once").

A job runs in a task of its own, so that a client that goes away changes nothing, and a second call with
the same id joins it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass
from typing import Any

from exec_daemon.admit import Admitted, admit, effective, take_rate
from exec_daemon.decide import Facts, decide
from exec_daemon.faults import fault, store_error
from exec_daemon.op import BoxRead, Ended, OpContext
from exec_daemon.rates import Buckets
from exec_daemon.registry import Registry
from exec_daemon.settings import DaemonLimits
from exec_daemon.store import Conflict, NewId, NewJob, Outcome, Running, Store, StoreError
from exec_daemon.store import Done as Ran
from exec_daemon.tokens import Asker
from messaging import CallError, CallRequest, ErrorCode, Job, Result, digest, error

log = logging.getLogger(__name__)

# An op that was told to stop gets so long to clean up.
_STOP_S = 1.0


@dataclass(frozen=True, slots=True)
class Pending:
    """The job still runs; its end will be at `/jobs/{id}`."""

    job: Job


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """What a dry run found: this call would be made."""

    call: Admitted

    def to_json(self) -> dict[str, Any]:
        """`{ok, dry_run, would}`."""
        op = self.call.op
        would = {"op": op.name, "args": dict(self.call.args), "side_effecting": op.side_effecting}
        return {"ok": True, "dry_run": True, "would": would}


def result_of(job: Job, *, replayed: bool = False) -> Result:
    """The answer that an ended job gives."""
    return Result(
        op=job.op,
        call_id=job.call_id,
        job_id=job.id,
        side_effecting=job.side_effecting,
        duration_ms=job.duration_ms or 0.0,
        data=job.result,
        error=None if job.error is None else CallError.from_json(job.error),
        replayed=replayed,
    )


class Executor:
    """Runs calls and knows those that are running. Lives on the event loop."""

    def __init__(
        self,
        *,
        registry: Registry,
        store: Store,
        buckets: Buckets,
        limits: DaemonLimits,
        box: BoxRead,
        new_id: NewId,
    ) -> None:
        self._registry = registry
        self._store = store
        self._buckets = buckets
        self._limits = limits
        self._box = box
        self._new_id = new_id
        self._jobs: dict[str, asyncio.Task[Job]] = {}
        self._runs: dict[str, asyncio.Task[Ended]] = {}

    async def call(
        self, asker: Asker, request: CallRequest, wait_s: float | None = None
    ) -> Result | Pending | Rehearsed:
        """Answers `request`; after `wait_s` seconds (None: as long as it takes) with a `Pending`.

        Raises `StoreError` when the journal cannot be written: then nothing ran.
        """
        call = await self._admit(asker, request)
        if isinstance(call, CallError):
            return Result(op=request.call.op, call_id=request.call.call_id, error=call)
        if request.dry_run:
            return Rehearsed(call)
        limited = take_rate(self._buckets, self._limits, call)
        if limited is not None:
            return self._refused(call, request, limited)
        return await self._journaled(call, request, wait_s)

    async def cancel(self, job_id: str) -> None:
        """Stops a running op and waits until its job has ended, CANCELLED or as it just did."""
        run, job = self._runs.get(job_id), self._jobs.get(job_id)
        if run is not None and job is not None:
            run.cancel()
            await asyncio.wait({job}, timeout=_STOP_S)

    async def drain(self, timeout_s: float) -> None:
        """Waits for what runs; what still runs then is left to the next start (`interrupt_running`)."""
        if self._jobs:
            _, late = await asyncio.wait(set(self._jobs.values()), timeout=timeout_s)
            for task in late:
                task.cancel()

    async def _admit(self, asker: Asker, request: CallRequest) -> Admitted | CallError:
        identity = await effective(self._store, asker, request)
        if isinstance(identity, CallError):
            return identity
        return admit(self._registry, identity, Facts(scopes=asker.scopes), request.call)

    @staticmethod
    def _refused(call: Admitted, request: CallRequest, failed: CallError) -> Result:
        return Result(
            op=call.op.name,
            call_id=request.call.call_id,
            side_effecting=call.op.side_effecting,
            error=failed,
        )

    async def _journaled(
        self, call: Admitted, request: CallRequest, wait_s: float | None
    ) -> Result | Pending:
        begun = await self._store.begin(self._new_job(call, request))
        if isinstance(begun, Conflict):
            text = f"The call id {begun.job.call_id} stands for another call. Choose a new one."
            return self._refused(call, request, error(ErrorCode.DUPLICATE_ID, text))
        if isinstance(begun, Ran):
            return result_of(begun.job, replayed=True)
        joined = isinstance(begun, Running)
        if joined and begun.job.id not in self._jobs and not call.op.repeatable:
            return Pending(begun.job)
        # A running job without a task is one whose end could not be stored: it is run again.
        task = self._jobs.get(begun.job.id) or self._start(call, begun.job)
        return await self._wait(task, begun.job, wait_s, replayed=joined)

    def _new_job(self, call: Admitted, request: CallRequest) -> NewJob:
        return NewJob(
            identity=str(call.identity),
            call_id=request.call.call_id or self._new_id("call"),
            digest=digest(call.op.name, dict(call.args)),
            op=call.op.name,
            args=call.args,
            side_effecting=call.op.side_effecting,
            effects_inside=call.op.effects_inside,
            thread=request.thread,
            reply=request.reply,
            on_behalf_of=request.on_behalf_of,
        )

    def _start(self, call: Admitted, job: Job) -> asyncio.Task[Job]:
        task = asyncio.create_task(self._run(call, job), name=job.id)
        self._jobs[job.id] = task
        task.add_done_callback(self._forget)
        return task

    def _forget(self, task: asyncio.Task[Job]) -> None:
        del self._jobs[task.get_name()]
        if not task.cancelled() and (failed := task.exception()):
            log.error("the end of %s could not be stored: %s", task.get_name(), failed)

    @staticmethod
    async def _wait(
        task: asyncio.Task[Job], job: Job, wait_s: float | None, *, replayed: bool
    ) -> Result | Pending:
        """Joins the job without owning it: a waiter that leaves stops nothing."""
        await asyncio.wait({task}, timeout=wait_s)
        return result_of(task.result(), replayed=replayed) if task.done() else Pending(job)

    async def _run(self, call: Admitted, job: Job) -> Job:
        began_s = time.monotonic()
        ended = await self._attempt(call, job)
        took_ms = round((time.monotonic() - began_s) * 1000, 3)
        if isinstance(ended, CallError):
            return await self._store.finish(job.id, Outcome(error=ended, duration_ms=took_ms))
        outcome = Outcome(data=ended.data, duration_ms=took_ms)
        try:
            return await self._store.finish(job.id, outcome, ended.effects)
        except StoreError as failed:
            refused = Outcome(error=store_error(failed), duration_ms=took_ms)
            return await self._store.finish(job.id, refused)

    async def _attempt(self, call: Admitted, job: Job) -> Ended:
        """One run of the op within its time limit; whatever it does, this answers."""
        run = asyncio.create_task(call.op.run(call.arguments, self._context(call, job)))
        self._runs[job.id] = run
        try:
            await asyncio.wait({run}, timeout=call.op.time_limit_s)
            if not run.done():
                return await self._timed_out(call, run)
            return self._ended(run)
        finally:
            del self._runs[job.id]

    @staticmethod
    async def _timed_out(call: Admitted, run: asyncio.Task[Ended]) -> CallError:
        run.cancel()
        await asyncio.wait({run}, timeout=_STOP_S)
        text = f"{call.op.name} did not end within {call.op.time_limit_s:g} s."
        return error(ErrorCode.TIMEOUT, text, side_effecting=call.op.side_effecting)

    @staticmethod
    def _ended(run: asyncio.Task[Ended]) -> Ended:
        if run.cancelled():
            return error(ErrorCode.CANCELLED, "The job was cancelled before it ended.")
        failed = run.exception()
        if isinstance(failed, StoreError):
            return store_error(failed)
        return run.result() if failed is None else fault(failed)

    def _context(self, call: Admitted, job: Job) -> OpContext:
        return OpContext(
            identity=call.identity,
            job_id=job.id,
            thread=job.thread,
            store=self._store,
            new_id=self._new_id,
            ops=self._registry.infos,
            may=lambda op: decide(call.identity, op, {}, call.facts).allowed,
            box=self._box,
        )
