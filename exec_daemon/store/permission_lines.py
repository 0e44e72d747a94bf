"""What the audit says of approvals: who asked for which call, who said what to it. Pure (D108).

Each line is written in the transaction of what it tells. `call_id` is the id of the approval, which says the
whole call; its digest stands here.
"""

from __future__ import annotations

from exec_daemon.store.permissions import Approval
from exec_daemon.store.values import NewAuditLine


def asked(approval: Approval) -> NewAuditLine:
    """That somebody asked."""
    call = approval.call
    asked_by = None if call.asker == call.identity else call.asker
    return _line(approval, "asked", by=call.identity, at=approval.asked_at, asked_by=asked_by)


def said(approval: Approval) -> NewAuditLine:
    """What somebody said to it, once it is said."""
    by, at = approval.decided_by or "", approval.decided_at or ""
    return _line(approval, approval.state, by=by, at=at)


def _line(approval: Approval, what: str, *, by: str, at: str, asked_by: str | None = None) -> NewAuditLine:
    return NewAuditLine(
        at=at,
        identity=by,
        op=f"approval.{what}",
        args_digest=approval.call.digest,
        call_id=approval.id,
        outcome="succeeded",
        asked_by=asked_by,
    )
