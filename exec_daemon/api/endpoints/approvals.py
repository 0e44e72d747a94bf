"""`/approvals`: calls that wait for a person, with their whole arguments, and the person's word (O-36)."""

from __future__ import annotations

from pydantic import Field
from starlette.responses import Response

from exec_daemon.api.answers import answer
from exec_daemon.api.body import Body, query_number, read_body
from exec_daemon.api.problems import Refused, refuse
from exec_daemon.api.route import Ask
from exec_daemon.approvals.asked import shown
from exec_daemon.store import Approval, ApprovalState
from messaging import CallError, ErrorCode

_MOST = 500


class ApproveBody(Body):
    """`digest` as the approval shows it: what is approved is what was looked at."""

    digest: str = Field(pattern=r"^[0-9a-f]{64}$", description="the digest that the approval shows")


class DenyBody(Body):
    """`reason` is told to whoever asked."""

    reason: str | None = Field(default=None, max_length=500)


def _state(ask: Ask) -> ApprovalState | None:
    written = ask.request.query_params.get("state")
    if written is not None and written not in tuple(ApprovalState):
        raise refuse(ErrorCode.INVALID_REQUEST, f"state must be one of {', '.join(ApprovalState)}.")
    return ApprovalState(written) if written else None


async def every(ask: Ask) -> Response:
    """The newest first."""
    limit = query_number(ask.request, "limit", 100, _MOST)
    found = await ask.services.store.approvals(_state(ask), None, limit)
    return answer({"approvals": [shown(approval) for approval in found]})


async def one(ask: Ask) -> Response:
    """One, whole."""
    approval_id = ask.request.path_params["id"]
    approval = await ask.services.store.approval(approval_id)
    if approval is None:
        raise refuse(ErrorCode.NOT_FOUND, f"There is no approval {approval_id[:128]!r}.")
    return answer(shown(approval))


def _said(outcome: Approval | CallError) -> Response:
    if isinstance(outcome, CallError):
        raise Refused(outcome)
    return answer(shown(outcome))


async def approve(ask: Ask) -> Response:
    """Lets the call run, once. The answer does not wait for its end: that is at `/jobs/{id}`."""
    body = await read_body(ask.request, ApproveBody, ask.services.settings.limits.max_call_bytes)
    approval_id = ask.request.path_params["id"]
    return _said(await ask.services.deciding.approve(ask.identity, approval_id, body.digest))


async def deny(ask: Ask) -> Response:
    """The call never runs; whoever asked is told."""
    body = await read_body(ask.request, DenyBody, ask.services.settings.limits.max_call_bytes)
    approval_id = ask.request.path_params["id"]
    return _said(await ask.services.deciding.deny(ask.identity, approval_id, body.reason))
