"""A call that needs a person's word: kept durably, answered at once with APPROVAL_PENDING (O-36)."""

from __future__ import annotations

import asyncio
from datetime import datetime, timedelta
from typing import Final

from exec_daemon.access.tokens import Asker
from exec_daemon.approvals.asked import asked_call, same_call
from exec_daemon.approvals.standing import standing
from exec_daemon.calls.admit import Admitted
from exec_daemon.calls.registry import Registry
from exec_daemon.store import Approval, ApprovalState, Clock, NewId, Store
from messaging import CallError, CallRequest, ErrorCode, Job, Result, error
from messaging.moment import iso

# More than a person reads through; an agent that asks for more is asking for nothing.
MOST_PENDING: Final = 32


class Asking:
    """Asks. The same call asks once, however often it comes."""

    def __init__(
        self, *, store: Store, registry: Registry, clock: Clock, new_id: NewId, expire_s: int
    ) -> None:
        self._store = store
        self._registry = registry
        self._clock = clock
        self._new_id = new_id
        self._expire_s = expire_s
        self._turn = asyncio.Lock()

    async def __call__(self, asker: Asker, call: Admitted, request: CallRequest) -> Result | Job:
        """What the asker is told; the job, where the same call has run already, or has been approved."""
        call_id = request.call.call_id or self._new_id("call")
        async with self._turn:  # how many wait is counted and added to in one go
            found = await self._found(asker, call, request, call_id)
        if isinstance(found, CallError):
            return _answer(call, call_id, found)
        return found if isinstance(found, Job) else await self._told(call, call_id, found)

    async def _found(
        self, asker: Asker, call: Admitted, request: CallRequest, call_id: str
    ) -> Approval | Job | CallError:
        waiting = await self._store.approvals(ApprovalState.PENDING, str(call.identity), MOST_PENDING)
        known = any(one.call.call_id == call_id for one in waiting)
        if len(waiting) >= MOST_PENDING and not known:
            return _too_many(call)
        op = self._registry.info(call.op.name)
        return await self._store.ask(asked_call(asker, call, request, call_id, op), self._expiry())

    async def _told(self, call: Admitted, call_id: str, approval: Approval) -> Result | Job:
        if not same_call(approval.call.op, approval.call.args, call):
            return _answer(call, call_id, _conflict(approval))
        job = await self._store.job(approval.job_id) if approval.job_id else None
        if job is not None:
            return job
        said = standing(approval) or _under_way(approval)
        return _answer(call, call_id, said, approval.id)

    def _expiry(self) -> str:
        return iso(datetime.fromisoformat(self._clock()) + timedelta(seconds=self._expire_s))


def _answer(call: Admitted, call_id: str, said: CallError, job_id: str | None = None) -> Result:
    return Result(
        op=call.op.name,
        call_id=call_id,
        job_id=job_id,
        side_effecting=call.op.side_effecting,
        error=said,
    )


def _too_many(call: Admitted) -> CallError:
    text = f"Not allowed: {MOST_PENDING} calls of {call.identity} wait for a person already."
    return error(ErrorCode.FORBIDDEN, text, details={"rule": "approvals pending"})


def _conflict(approval: Approval) -> CallError:
    text = f"The call id {approval.call.call_id} stands for another call. Choose a new one."
    return error(ErrorCode.DUPLICATE_ID, text, details={"job_id": approval.id})


def _under_way(approval: Approval) -> CallError:
    """Approved a moment ago: the job is about to begin."""
    text = f"{approval.call.op} was approved and is about to run, as job {approval.id}."
    return error(ErrorCode.APPROVAL_PENDING, text, details={"job_id": approval.id})
