"""What is asked, and what the approver sees of it. Pure.

The approver sees everything that `digest` covers and nothing shortened: who asks, for whom, the op, all
arguments, the thread. An approval holds for exactly that, once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from exec_daemon.access.identity import Identity, identity
from exec_daemon.access.tokens import Asker
from exec_daemon.calls.admit import Admitted
from exec_daemon.store.permissions import Approval, AskedCall
from messaging import Call, CallRequest, OpInfo, digest


def asked_call(asker: Asker, call: Admitted, request: CallRequest, call_id: str, op: OpInfo) -> AskedCall:
    """The call as it is kept until somebody decides."""
    return AskedCall(
        identity=str(call.identity),
        asker=str(asker.identity),
        call_id=call_id,
        op=call.op.name,
        args=call.args,
        side_effecting=call.op.side_effecting,
        digest=digest_of(asker.identity, call, request, op),
        marked_by=call.approval or "",
        scopes=asker.scopes,
        thread=request.thread,
        reply=request.reply,
        on_behalf_of=request.on_behalf_of,
    )


def digest_of(asker: Identity, call: Admitted, request: CallRequest, op: OpInfo) -> str:
    """Over all that the approver is shown, and over the op's own definition."""
    where = [request.thread, request.reply, request.on_behalf_of]
    return digest(op.digest, str(asker), str(call.identity), call.op.name, dict(call.args), where)


def request_of(asked: AskedCall) -> tuple[Asker, CallRequest]:
    """The call as it came, to be made now. Raises ValueError for an asker that no version of ours wrote."""
    who = identity(asked.asker)
    if who is None:
        raise ValueError(f"{asked.asker!r} is no identity")
    request = CallRequest(
        call=Call(asked.op, asked.args, asked.call_id),
        thread=asked.thread,
        reply=asked.reply,
        on_behalf_of=asked.on_behalf_of,
    )
    return Asker(who, asked.scopes), request


def same_call(op: str, args: Mapping[str, Any], call: Admitted) -> bool:
    """Is what has this call id the same call?"""
    return digest(op, dict(args)) == digest(call.op.name, dict(call.args))


def shown(approval: Approval) -> dict[str, Any]:
    """Everything, for the person who decides."""
    call = approval.call
    return {
        "id": approval.id,
        "state": str(approval.state),
        "identity": call.identity,
        "asker": call.asker,
        "op": call.op,
        "side_effecting": call.side_effecting,
        "args": dict(call.args),
        "digest": call.digest,
        "call_id": call.call_id,
        "thread": call.thread,
        "reply": call.reply,
        "marked_by": call.marked_by,
        "asked_at": approval.asked_at,
        "expires_at": approval.expires_at,
        "decided_by": approval.decided_by,
        "decided_at": approval.decided_at,
        "reason": approval.reason,
        "job_id": approval.job_id,
    }
