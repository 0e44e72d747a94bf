"""What whoever asked is told of a call that waits, was denied, or expired. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from exec_daemon.store.permissions import Approval, ApprovalState
from messaging import CallError, ErrorCode, error


def _pending(approval: Approval) -> CallError:
    text = (
        f"{approval.call.op} awaits approval by a person, as job {approval.id}, until {approval.expires_at}. "
        "Do not repeat it: the outcome comes as a message into this thread."
    )
    details = {"job_id": approval.id, "expires_at": approval.expires_at, "digest": approval.call.digest}
    return error(ErrorCode.APPROVAL_PENDING, text, details=details)


def _denied(approval: Approval) -> CallError:
    why = f": {approval.reason}" if approval.reason else "."
    text = f"{approval.call.op} was denied by {approval.decided_by}{why}"
    return error(ErrorCode.APPROVAL_DENIED, text, details={"job_id": approval.id})


def _expired(approval: Approval) -> CallError:
    text = f"Nobody approved {approval.call.op} until {approval.expires_at}. Nothing was done."
    return error(ErrorCode.APPROVAL_EXPIRED, text, details={"job_id": approval.id})


_ANSWERS: Final[Mapping[ApprovalState, Callable[[Approval], CallError]]] = MappingProxyType(
    {
        ApprovalState.PENDING: _pending,
        ApprovalState.DENIED: _denied,
        ApprovalState.EXPIRED: _expired,
    }
)


def standing(approval: Approval) -> CallError | None:
    """What the asker is told of an approval; None for an approved one: its job says how it went."""
    answer = _ANSWERS.get(approval.state)
    return None if answer is None else answer(approval)
