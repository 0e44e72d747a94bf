"""What the ops on workers share: which worker is meant, and who may touch it."""

from __future__ import annotations

from pydantic import Field

from exec_daemon.access.identity import Identity, Role
from exec_daemon.calls.op import Arguments, OpContext
from exec_daemon.store.worker_values import Worker
from messaging import CallError, ErrorCode, error

# What an agent reads in one go (O-85).
MOST_TEXT_BYTES = 16 * 1024
_MOST_LISTED = 500


class Which(Arguments):
    """One worker."""

    worker: str = Field(
        pattern=r"^[^\x00-\x1f\x7f]{1,80}$", description="id of the worker, or its name among yours"
    )


def manages(identity: Identity, worker: Worker) -> bool:
    """Operators manage all workers, others those that they, or their workers, spawned."""
    return identity.role is Role.OPERATOR or str(identity) in (worker.owner, worker.root)


async def find(args: Which, context: OpContext) -> Worker | CallError:
    """The worker; one that is foreign and one that is missing answer alike (T-52)."""
    worker = await context.store.worker(args.worker)
    if worker is None or not manages(context.identity, worker):
        owner = None if context.identity.role is Role.OPERATOR else str(context.identity)
        alive = await context.store.workers(owner=owner, limit=_MOST_LISTED)
        named = [one for one in alive if one.name == args.worker]
        worker = named[0] if len(named) == 1 else None
    if worker is None:
        text = f"There is no worker {args.worker!r} of yours. box.exec workers lists them."
        return error(ErrorCode.NOT_FOUND, text)
    return worker


def text_problem(name: str, text: str) -> CallError | None:
    """Limits in bytes, which a JSON Schema cannot say."""
    size = len(text.encode("utf-8", "replace"))
    if size > MOST_TEXT_BYTES:
        said = f"{name} has {size} bytes; a worker is told at most {MOST_TEXT_BYTES} at a time."
        return error(ErrorCode.TOO_LARGE, said, details={"bytes": size, "most_bytes": MOST_TEXT_BYTES})
    return error(ErrorCode.INVALID_ARGS, f"{name}: holds a NUL character.") if "\0" in text else None
