"""Grants while the daemon runs: what an operator sets is in force before it is told so."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from exec_daemon.access.grant_rules import read
from exec_daemon.access.stack import Grants
from exec_daemon.store import GrantRecord, Store


class GrantBook:
    """The grants of the store, in `grants` as well. Only one daemon has the store, so nobody else writes."""

    def __init__(self, store: Store, grants: Grants) -> None:
        self._store = store
        self._turn = asyncio.Lock()
        self.grants = grants

    async def load(self) -> None:
        """Takes over what the store has."""
        async with self._turn:
            await self._take_over()

    async def set(self, subject: str, rules: Mapping[str, Any], by: str) -> GrantRecord:
        """Replaces the grant of `subject`; nothing must be wrong with `rules`."""
        async with self._turn:
            record = await self._store.set_grant(subject, rules, by)
            await self._take_over()
            return record

    async def remove(self, subject: str) -> bool:
        """False where there is none."""
        async with self._turn:
            removed = await self._store.remove_grant(subject)
            await self._take_over()
            return removed

    async def _take_over(self) -> None:
        records = await self._store.grants()
        self.grants.replace_stored({record.subject: read(record.rules) for record in records})
