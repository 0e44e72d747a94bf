"""What follows on a person's word: the call runs once, and its thread is told once (O-36, docs/why/once.md).

Running goes by the call's own id, so the journal sees to it that it happens once; telling goes by a key of
the thread. So each step may be taken again by whoever comes after:

    approved ─▶ the journal runs the call ─▶ told ─▶ settled
    denied, expired ───────────────────────▶ told ─▶ settled
"""

from __future__ import annotations

import asyncio
import logging
from typing import Final

from exec_daemon.approvals.as_asked import not_as_asked
from exec_daemon.approvals.asked import request_of
from exec_daemon.approvals.outcome import message
from exec_daemon.approvals.standing import standing
from exec_daemon.calls.execute import Executor, Pending, result_of
from exec_daemon.calls.registry import Registry
from exec_daemon.store import Approval, Store
from messaging import CallError, JobState, Result

log = logging.getLogger(__name__)

# What runs has been waited for already; this is for a message and a row.
_STOP_S: Final = 5.0
# Of one identity no more run between a word and its being told.
_LOOK_BACK: Final = 500


class CarryingOut:
    """One task for each approval that was decided. Lives on the event loop."""

    def __init__(self, store: Store, executor: Executor, registry: Registry) -> None:
        self._store = store
        self._executor = executor
        self._registry = registry
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def start(self, approval: Approval) -> None:
        """Begins, where nobody has begun yet."""
        if approval.id not in self._tasks:
            task = asyncio.create_task(self._settle(approval), name=approval.id)
            self._tasks[approval.id] = task
            task.add_done_callback(self._forget)

    async def close(self) -> None:
        """Waits a little; what is left is begun again by the next daemon."""
        if self._tasks:
            _, late = await asyncio.wait(set(self._tasks.values()), timeout=_STOP_S)
            for task in late:
                task.cancel()

    def _forget(self, task: asyncio.Task[None]) -> None:
        del self._tasks[task.get_name()]
        if not task.cancelled() and (failed := task.exception()):
            log.error("approval %s is not settled yet: %s", task.get_name(), failed)

    async def _settle(self, approval: Approval) -> None:
        said = standing(approval)
        result = await self._run(approval) if said is None else _not_run(approval, said)
        if result is None:
            return
        told = message(approval, result)
        if told is not None:
            await self._store.append(told)
        await self._store.settle_approval(approval.id)

    async def _run(self, approval: Approval) -> Result | None:
        """How the call ended; None where that cannot be known yet."""
        wrong = await not_as_asked(approval, self._executor, self._registry)
        if wrong is not None:
            return await self._ran_before(approval) or _not_run(approval, wrong)
        asker, request = request_of(approval.call)
        begun = await self._executor.run_approved(asker, request)
        job_id = begun.job.id if isinstance(begun, Pending) else begun.job_id
        if job_id is not None:
            await self._store.link_approval(approval.id, job_id)
        if isinstance(begun, Result):
            return begun
        await self._executor.jobs.end_of(begun.job.id)
        job = await self._store.job(begun.job.id)
        return None if job is None or job.state is JobState.RUNNING else result_of(job)

    async def _ran_before(self, approval: Approval) -> Result | None:
        """How it ended where it ran before we died: what was taken away or changed since undoes nothing."""
        call = approval.call
        theirs = await self._store.jobs(call.identity, None, _LOOK_BACK)
        ran = next((job for job in theirs if job.call_id == call.call_id and job.ended_at), None)
        return None if ran is None else result_of(ran)


def _not_run(approval: Approval, said: CallError) -> Result:
    call = approval.call
    return Result(
        op=call.op,
        call_id=call.call_id,
        job_id=approval.id,
        side_effecting=call.side_effecting,
        error=said,
    )
