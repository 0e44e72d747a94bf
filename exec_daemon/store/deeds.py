"""What somebody did to who may do what, as a line of the audit: grants, certificates, tokens. Pure (D108)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from exec_daemon.store.values import NewAuditLine
from messaging import digest


def deed(what: str, subject: str, *, by: str, at: str, content: Mapping[str, Any]) -> NewAuditLine:
    """`by` did `what` (`token.create`) to what has the id `subject`; the digest covers `content` too."""
    return NewAuditLine(
        at=at,
        identity=by,
        op=what,
        args_digest=digest(subject, dict(content)),
        call_id=subject,
        outcome="succeeded",
    )
