"""`job.get`: one job of the asker's own, with what it ended with."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from exec_daemon.access.scope import sees_job
from exec_daemon.approvals.jobs import asked_job
from exec_daemon.calls.op import Arguments, Ended, Op, OpContext, Success
from messaging import ErrorCode, error


class Args(Arguments):
    """`id` as the answer to a call gave it in `job_id`."""

    id: str = Field(pattern=r"^[A-Za-z0-9_-]{1,128}$", description="the job's id")


async def run(args: Args, context: OpContext) -> Ended:
    """The job; one that is foreign and one that is missing answer alike (O-46)."""
    job = await asked_job(context.store, args.id) or await context.store.job(args.id)
    if job is None or not sees_job(context.identity, job):
        return error(ErrorCode.NOT_FOUND, f"There is no job {args.id} that you may see.")
    body: dict[str, Any] = job.to_json()
    return Success(body)


OP = Op(
    name="job.get",
    summary="Show one of your jobs: its state, arguments, and the result or error it ended with.",
    side_effecting=False,
    arguments=Args,
    example={"id": "job_0123456789abcdef"},
    run=run,
)
