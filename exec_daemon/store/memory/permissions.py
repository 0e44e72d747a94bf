"""Grants, approvals and marks in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from exec_daemon.store import permission_lines
from exec_daemon.store.json_text import kept
from exec_daemon.store.memory.audit import MemoryAudit
from exec_daemon.store.permissions import Approval, ApprovalState, AskedCall, GrantRecord, Word
from messaging import Job


class MemoryPermissions(MemoryAudit):
    """The `Permissions` part of the port."""

    async def grants(self) -> list[GrantRecord]:
        return [record for _, record in sorted(self._tables.grants.items())]

    async def set_grant(self, subject: str, rules: Mapping[str, Any], by: str) -> GrantRecord:
        record = GrantRecord(subject=subject, rules=kept(rules), set_by=by, set_at=self._clock())
        self._tables.grants[subject] = record
        return record

    async def remove_grant(self, subject: str) -> bool:
        return self._tables.grants.pop(subject, None) is not None

    async def ask(self, call: AskedCall, expires_at: str) -> Approval | Job:
        tables, theirs = self._tables, (call.identity, call.call_id)
        approval_id, at = self._new_id("job"), self._clock()
        for earlier in tables.approvals.values():
            if (earlier.call.identity, earlier.call.call_id) == theirs:
                return earlier
        if theirs in tables.calls:
            return tables.jobs[tables.calls[theirs]].job
        call = replace(call, args=kept(call.args))
        made = self._put(Approval(id=approval_id, call=call, asked_at=at, expires_at=expires_at))
        self._note(permission_lines.asked(made))
        return made

    async def approval(self, approval_id: str) -> Approval | None:
        return self._tables.approvals.get(approval_id)

    async def approvals(
        self, state: ApprovalState | None = None, identity: str | None = None, limit: int = 100
    ) -> list[Approval]:
        newest_first = reversed(self._tables.approvals.values())
        wanted = (one for one in newest_first if identity in (None, one.call.identity))
        return [one for one in wanted if state in (None, one.state)][:limit]

    async def unsettled(self) -> list[Approval]:
        return [one for one in self._tables.approvals.values() if not one.settled]

    async def answer_approval(self, approval_id: str, word: Word) -> Approval | None:
        at, found = self._clock(), self._tables.approvals.get(approval_id)
        if found is None or found.state is not ApprovalState.PENDING:
            return found
        said = replace(found, state=word.state, decided_by=word.by, decided_at=at, reason=word.reason)
        self._note(permission_lines.said(said))
        return self._put(said)

    async def link_approval(self, approval_id: str, job_id: str) -> None:
        self._put(replace(self._tables.approvals[approval_id], job_id=job_id))

    async def settle_approval(self, approval_id: str) -> None:
        self._put(replace(self._tables.approvals[approval_id], settled=True))

    async def forget_approvals(self, before: str) -> int:
        approvals = self._tables.approvals
        old = [one.id for one in approvals.values() if one.settled and (one.decided_at or before) < before]
        for approval_id in old:
            del approvals[approval_id]
        return len(old)

    async def add_mark(self, identity: str, thread: str, mark: str) -> None:
        self._clock()
        self._tables.marks.add((identity, thread, mark))

    async def marks(self, identity: str, thread: str | None) -> list[str]:
        there = (thread, "")
        found = {
            mark
            for who, where, mark in self._tables.marks
            if who == identity and (thread is None or where in there)
        }
        return sorted(found)

    def _put(self, approval: Approval) -> Approval:
        self._tables.approvals[approval.id] = approval
        return approval
