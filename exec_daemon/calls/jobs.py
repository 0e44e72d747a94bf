"""Jobs that run now: each in a task of its own, so that a client that goes away changes nothing.

A second call with the same id joins the task of the first. What waits for nothing needs no task: it has ended
before anybody could ask for it (`at_once`).
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple

from exec_daemon.calls.admit import Admitted
from exec_daemon.calls.faults import fault, store_error
from exec_daemon.calls.keep import small_enough
from exec_daemon.calls.op import Ended, OpContext
from exec_daemon.calls.read_only import true_to_its_flag
from exec_daemon.calls.waiting import ended_within
from exec_daemon.eager import started
from exec_daemon.store import Clock, NewId, NewJob, Outcome, Store, StoreError
from messaging import CallError, ErrorCode, Job, error
from messaging.tracing import span

log = logging.getLogger(__name__)

# An op that was told to stop gets so long to clean up.
_STOP_S: Final = 1.0


class Placed(NamedTuple):
    """A job's id, and where its call stood."""

    job_id: str
    thread: str | None
    reply: str | None


# Where a read stands that is no call.
NOWHERE: Final = Placed("", None, None)


async def _time_out(call: Admitted, run: asyncio.Future[Ended]) -> CallError:
    run.cancel()
    await asyncio.wait({run}, timeout=_STOP_S)
    text = f"{call.op.name} did not end within {call.op.time_limit_s:g} s."
    return error(ErrorCode.TIMEOUT, text, side_effecting=call.op.side_effecting)


async def _whole(call: Admitted, context: OpContext) -> Ended:
    with span("inband.op", {"inband.op": call.op.name, "inband.job_id": context.job_id}):
        return await small_enough(
            true_to_its_flag(call.op, await call.op.run(call.arguments, context)), context.keep
        )


async def _read(call: Admitted, context: OpContext) -> Ended:
    return true_to_its_flag(call.op, await call.op.run(call.arguments, context))


def _ended(run: asyncio.Future[Ended]) -> Ended:
    """What the op came to; whatever it raised is an error of the call."""
    if run.cancelled():
        return error(ErrorCode.CANCELLED, "The job was cancelled before it ended.")
    failed = run.exception()
    return run.result() if failed is None else _failed(failed)


def _outcome(ended: Ended, began_s: float) -> Outcome:
    took_ms = round((time.monotonic() - began_s) * 1000, 3)
    if isinstance(ended, CallError):
        return Outcome(error=ended, duration_ms=took_ms)
    return Outcome(data=ended.data, text=ended.text, duration_ms=took_ms)


def _failed(raised: BaseException) -> CallError:
    return store_error(raised) if isinstance(raised, StoreError) else fault(raised)


class RunningJobs:
    """Starts, joins and stops jobs. Lives on the event loop; `context` gives an op what it may use."""

    def __init__(
        self, store: Store, context: Callable[[Admitted, Placed], OpContext], new_id: NewId, clock: Clock
    ) -> None:
        self._store = store
        self._context = context
        self._new_id = new_id
        self._clock = clock
        self._jobs: dict[str, asyncio.Future[Job]] = {}
        self._runs: dict[str, asyncio.Future[Ended]] = {}

    def __contains__(self, job_id: str) -> bool:
        return job_id in self._jobs

    def start(self, call: Admitted, job: Job) -> asyncio.Future[Job]:
        """What runs the job to its stored end, which it may have reached; the present one where it runs."""
        if job.id in self._jobs:
            return self._jobs[job.id]
        task = started(asyncio.get_running_loop(), self._run(call, job))
        if task.done():
            self._forget(job.id, task)
        else:
            self._jobs[job.id] = task
            task.add_done_callback(partial(self._forget, job.id))
        return task

    async def at_once(self, call: Admitted, new: NewJob) -> tuple[Job, str | None]:
        """Runs an op that changes nothing and waits for nothing, in the task of whoever asks.

        The job, and the text of its result. It is journaled when it has ended: nobody can have seen it run.
        """
        job_id, began_at, began_s = self._new_id("job"), self._clock(), time.monotonic()
        ended = await self._now(call, Placed(job_id, new.thread, new.reply))
        outcome = _outcome(ended, began_s)
        return await self._store.record(new, job_id, outcome, began_at), outcome.text

    async def at_once_as(self, call: Admitted, job: Job) -> Job:
        """The same, for a job that has begun: its call id is its caller's, who may have sent it before."""
        began_s = time.monotonic()
        return await self._finish(job, await self._now(call, Placed(job.id, job.thread, job.reply)), began_s)

    async def _now(self, call: Admitted, place: Placed) -> Ended:
        try:
            return await _whole(call, self._context(call, place))
        except Exception as raised:  # noqa: BLE001 - whatever an op raises is an error of the call
            return _failed(raised)

    async def look(self, call: Admitted) -> Ended:
        """What an op gives that changes nothing, without a job: it is asked for with each view of a page."""
        assert not call.op.side_effecting, call.op.name
        run = asyncio.create_task(_read(call, self._context(call, NOWHERE)))
        try:
            in_time = await ended_within(run, call.op.time_limit_s)
            return _ended(run) if in_time else await _time_out(call, run)
        finally:
            run.cancel()

    async def cancel(self, job_id: str) -> None:
        """Stops a running op and waits until its job has ended, CANCELLED or as it just did."""
        run, job = self._runs.get(job_id), self._jobs.get(job_id)
        if run is not None and job is not None:
            run.cancel()
            await asyncio.wait({job}, timeout=_STOP_S)

    async def end_of(self, job_id: str) -> None:
        """Waits until the job has ended, if it runs."""
        if job_id in self._jobs:
            await asyncio.wait({self._jobs[job_id]})

    async def drain(self, timeout_s: float) -> None:
        """Waits for what runs; what still runs then is left to the next start (`interrupt_running`)."""
        if self._jobs:
            _, late = await asyncio.wait(set(self._jobs.values()), timeout=timeout_s)
            for task in late:
                task.cancel()

    def _forget(self, job_id: str, task: asyncio.Future[Job]) -> None:
        self._jobs.pop(job_id, None)
        if not task.cancelled() and (failed := task.exception()):
            log.error("the end of %s could not be stored: %s", job_id, failed)

    async def _run(self, call: Admitted, job: Job) -> Job:
        began_s = time.monotonic()
        return await self._finish(job, await self._attempt(call, job), began_s)

    async def _finish(self, job: Job, ended: Ended, began_s: float) -> Job:
        outcome = _outcome(ended, began_s)
        if isinstance(ended, CallError):
            return await self._store.finish(job.id, outcome)
        try:
            return await self._store.finish(job.id, outcome, ended.effects)
        except StoreError as failed:
            failure = Outcome(error=store_error(failed), duration_ms=outcome.duration_ms)
            return await self._store.finish(job.id, failure)

    async def _attempt(self, call: Admitted, job: Job) -> Ended:
        """One run of the op within its time limit."""
        whole = _whole(call, self._context(call, Placed(job.id, job.thread, job.reply)))
        loop = asyncio.get_running_loop()
        run = started(loop, whole) if call.op.begins_at_once else loop.create_task(whole)
        self._runs[job.id] = run
        try:
            in_time = await ended_within(run, call.op.time_limit_s)
            return _ended(run) if in_time else await _time_out(call, run)
        finally:
            del self._runs[job.id]
