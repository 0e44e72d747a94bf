"""The `Permissions` part of `SqliteStore`, each method one closure for the writer or the readers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from exec_daemon.store.permissions import Approval, ApprovalState, AskedCall, GrantRecord, Word
from exec_daemon.store.sqlite import permissions
from exec_daemon.store.sqlite.part import SqlitePart
from messaging import Job


class SqlitePermissions(SqlitePart):
    """Grants, approvals and marks."""

    async def grants(self) -> list[GrantRecord]:
        return await self._read(permissions.grants)

    async def set_grant(self, subject: str, rules: Mapping[str, Any], by: str) -> GrantRecord:
        return await self._write(permissions.set_grant, subject, rules, by, self._clock())

    async def remove_grant(self, subject: str) -> bool:
        return await self._write(permissions.remove_grant, subject)

    async def ask(self, call: AskedCall, expires_at: str) -> Approval | Job:
        return await self._write(permissions.ask, call, expires_at, self._new_id("job"), self._clock())

    async def approval(self, approval_id: str) -> Approval | None:
        return await self._read(permissions.approval, approval_id)

    async def approvals(
        self, state: ApprovalState | None = None, identity: str | None = None, limit: int = 100
    ) -> list[Approval]:
        return await self._read(permissions.approvals, state, identity, limit)

    async def unsettled(self) -> list[Approval]:
        return await self._read(permissions.unsettled)

    async def answer_approval(self, approval_id: str, word: Word) -> Approval | None:
        return await self._write(permissions.answer, approval_id, word, self._clock())

    async def link_approval(self, approval_id: str, job_id: str) -> None:
        await self._write(permissions.link, approval_id, job_id)

    async def settle_approval(self, approval_id: str) -> None:
        await self._write(permissions.settle, approval_id)

    async def forget_approvals(self, before: str) -> int:
        return await self._write(permissions.forget, before)

    async def add_mark(self, identity: str, thread: str, mark: str) -> None:
        await self._write(permissions.add_mark, identity, thread, mark, self._clock())

    async def marks(self, identity: str, thread: str | None) -> list[str]:
        return await self._read(permissions.marks, identity, thread)
