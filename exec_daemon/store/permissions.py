"""What a store keeps of permissions: grants of operators, calls that wait for a person, what was read where.

Times are UTC, ISO 8601 with milliseconds and `Z`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from messaging import Job


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantRecord:
    """A grant that an operator set while the daemon ran. `subject` is a role or an identity."""

    subject: str
    rules: Mapping[str, Any]
    set_by: str
    set_at: str


class ApprovalState(StrEnum):
    """How far an approval is. Only a pending one changes, and only once."""

    PENDING = "pending"
    APPROVED = "approved"
    DENIED = "denied"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedCall:
    """A call that needs a person's word: all that is needed to make it later, and nothing is left out.

    `asker` is who sent it, `identity` for whom it runs; `scopes` are those of the asker's token. `digest` is
    over everything that the approver is shown. `marked_by` is the rule that asks for approval.
    """

    identity: str
    asker: str
    call_id: str
    op: str
    args: Mapping[str, Any]
    side_effecting: bool
    digest: str
    marked_by: str
    scopes: tuple[str, ...] = ()
    thread: str | None = None
    reply: str | None = None
    on_behalf_of: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """One such call and what was said to it. `job_id` is the job that ran it; `settled`: all is told."""

    id: str
    call: AskedCall
    asked_at: str
    expires_at: str
    state: ApprovalState = ApprovalState.PENDING
    decided_by: str | None = None
    decided_at: str | None = None
    reason: str | None = None
    job_id: str | None = None
    settled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """What is said to a pending approval: by whom, and why."""

    state: ApprovalState
    by: str
    reason: str | None = None


class Permissions(Protocol):
    """The part of the port that holds them."""

    async def grants(self) -> list[GrantRecord]:
        """All of them, by subject."""
        ...

    async def set_grant(self, subject: str, rules: Mapping[str, Any], by: str) -> GrantRecord:
        """Replaces the grant of this subject."""
        ...

    async def remove_grant(self, subject: str) -> bool:
        """False where there is none."""
        ...

    async def ask(self, call: AskedCall, expires_at: str) -> Approval | Job:
        """The approval of this call id, made where there is none; the job where the call has run already.

        One that is made stands in the audit.
        """
        ...

    async def approval(self, approval_id: str) -> Approval | None:
        """The approval, or None."""
        ...

    async def approvals(
        self, state: ApprovalState | None = None, identity: str | None = None, limit: int = 100
    ) -> list[Approval]:
        """The newest first."""
        ...

    async def unsettled(self) -> list[Approval]:
        """Those that are pending, or decided and not told; the oldest first."""
        ...

    async def answer_approval(self, approval_id: str, word: Word) -> Approval | None:
        """Says `word` to a pending approval, which the audit tells; one that was decided stays as it is.

        None for none.
        """
        ...

    async def link_approval(self, approval_id: str, job_id: str) -> None:
        """This job runs the call."""
        ...

    async def settle_approval(self, approval_id: str) -> None:
        """Whoever asked has been told the end."""
        ...

    async def forget_approvals(self, before: str) -> int:
        """Removes settled ones that were decided before then; how many."""
        ...

    async def add_mark(self, identity: str, thread: str, mark: str) -> None:
        """Notes, once, that the identity has read this there; see `access.chain`."""
        ...

    async def marks(self, identity: str, thread: str | None) -> list[str]:
        """What it has read in this thread or in none; everywhere for None. Sorted."""
        ...
