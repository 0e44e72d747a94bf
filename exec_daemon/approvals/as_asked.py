"""Is a call still what its approver was shown, and may it still be made? Asked before word and run."""

from __future__ import annotations

from exec_daemon.approvals.asked import digest_of, request_of
from exec_daemon.calls.execute import Executor
from exec_daemon.calls.registry import Registry
from exec_daemon.store import Approval
from messaging import CallError, ErrorCode, error


async def not_as_asked(approval: Approval, executor: Executor, registry: Registry) -> CallError | None:
    """Why not; None where it is. Between word and run lies a restart at times, and with it another op."""
    asker, request = request_of(approval.call)
    call = await executor.admitted(asker, request)
    if isinstance(call, CallError):
        return call
    now = digest_of(asker.identity, call, request, registry.info(call.op.name))
    if now == approval.call.digest:
        return None
    text = f"{call.op.name} is not what it was when this was asked. Deny it, and have it asked again."
    return error(ErrorCode.OP_CHANGED, text)
