"""An approval is shown as a job from the moment it is asked: by the id that the asker was told."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from exec_daemon.approvals.standing import standing
from exec_daemon.store.permissions import Approval, ApprovalState
from exec_daemon.store.port import Store
from messaging import Job, JobState

_STATES: Final = {
    ApprovalState.PENDING: JobState.AWAITING_APPROVAL,
    ApprovalState.APPROVED: JobState.RUNNING,
    ApprovalState.DENIED: JobState.FAILED,
    ApprovalState.EXPIRED: JobState.FAILED,
}


async def asked_job(store: Store, job_id: str) -> Job | None:
    """The job that was announced under this id; None where the id is no approval's."""
    approval = await store.approval(job_id)
    if approval is None:
        return None
    ran = await store.job(approval.job_id) if approval.job_id else None
    return _waiting(approval) if ran is None else replace(ran, id=approval.id)


async def run_of(store: Store, job: Job) -> Job:
    """The job of the journal behind an announced one, which has its events."""
    approval = await store.approval(job.id)
    ran = await store.job(approval.job_id) if approval is not None and approval.job_id else None
    return ran or job


async def asked_jobs(store: Store, identity: str | None, state: JobState | None, limit: int) -> list[Job]:
    """The newest that did not run: waiting, denied or expired. Those that ran are in the journal."""
    jobs = [_waiting(one) for one in await store.approvals(None, identity, limit) if one.job_id is None]
    return [job for job in jobs if state in (None, job.state)]


def _waiting(approval: Approval) -> Job:
    call, state = approval.call, _STATES[approval.state]
    failed = standing(approval) if state is JobState.FAILED else None
    return Job(
        id=approval.id,
        op=call.op,
        args=call.args,
        call_id=call.call_id,
        identity=call.identity,
        state=state,
        created_at=approval.asked_at,
        side_effecting=call.side_effecting,
        thread=call.thread,
        reply=call.reply,
        ended_at=approval.decided_at if failed else None,
        error=failed.to_json() if failed else None,
    )
