"""`swarm.send`: a message to a worker, which is its next turn."""

from __future__ import annotations

from pydantic import Field

from exec_daemon.calls.op import Ended, Op, OpContext, Success
from exec_daemon.ops.dm_send import AUTHOR_KINDS
from exec_daemon.ops.swarm_fields import Which, find, text_problem
from exec_daemon.store.values import AppendMessage
from exec_daemon.store.worker_values import OVER
from messaging import AuthorKind, CallError, ErrorCode, MessageKind, NewMessage, error


class Args(Which):
    """`text` is read as it stands; it is no command line."""

    text: str = Field(min_length=1, description="at most 16384 bytes of UTF-8")


def check(args: Args) -> CallError | None:
    """What a JSON Schema cannot say."""
    return text_problem("text", args.text)


async def run(args: Args, context: OpContext) -> Ended:
    """Delivers by an effect: the message is there exactly when the job has succeeded."""
    worker = await find(args, context)
    if isinstance(worker, CallError):
        return worker
    if worker.state in OVER:
        return error(
            ErrorCode.NOT_FOUND, f"The worker {worker.name} is over: {worker.reason or worker.state}."
        )
    message_id = context.new_id("msg")
    message = NewMessage(
        thread=worker.thread,
        author=context.identity.name,
        author_kind=AUTHOR_KINDS.get(context.identity.role, AuthorKind.SYSTEM),
        kind=MessageKind.DM,
        body=args.text,
        job_id=context.job_id,
    )
    delivered = {"worker": worker.id, "thread": worker.thread, "message_id": message_id}
    return Success(delivered, (AppendMessage(message, message_id),))


OP = Op(
    name="swarm.send",
    summary="Tell a worker of yours something more.",
    side_effecting=True,
    arguments=Args,
    example={"worker": "w-6b1f0c", "text": "Look at the lock file first."},
    run=run,
    check=check,
)
