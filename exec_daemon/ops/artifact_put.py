"""`artifact.put`: a file of the box becomes an artifact, for whoever may see this job."""

from __future__ import annotations

from pydantic import Field

from exec_daemon.calls.op import Arguments, Ended, Op, OpContext, Success
from exec_daemon.store.values import KeepArtifact
from messaging import CallError
from messaging.artifacts import CONTENT_TYPE


class Args(Arguments):
    """`path` is relative to the outbox, or absolute below a folder that the operator has opened."""

    path: str = Field(
        min_length=1,
        max_length=1024,
        pattern=r"^[^\x00]+$",
        description="file in the outbox of the state directory, or below a folder of artifacts.folders",
    )
    content_type: str | None = Field(
        default=None,
        max_length=200,
        pattern=f"^(?:{CONTENT_TYPE.pattern})$",
        description="what it is, such as text/html; by default what its name says",
    )


async def run(args: Args, context: OpContext) -> Ended:
    """The file is copied first; that the artifact is this job's commits with the job's end."""
    kept = await context.keep.file(args.path, args.content_type)
    if isinstance(kept, CallError):
        return kept
    return Success({"artifact": kept.to_json()}, (KeepArtifact(kept),))


OP = Op(
    name="artifact.put",
    summary="Keep a file of the box as an artifact, which can be fetched from /artifacts/SHA256.",
    side_effecting=True,
    arguments=Args,
    example={"path": "report.html"},
    run=run,
)
