"""Grants while the daemon runs: what an operator sets is in force before it is told so."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from exec_daemon.access.grant_rules import read
from exec_daemon.access.stack import Grants
from exec_daemon.store import Clock, GrantRecord, Store, utc_now
from exec_daemon.store.deeds import deed


class GrantBook:
    """The grants of the store, in `grants` as well. Only one daemon has the store, so nobody else writes.

    Who changes what is in the audit before it changes; what cannot be audited does not change (D108).
    """

    def __init__(self, store: Store, grants: Grants, clock: Clock = utc_now) -> None:
        self._store = store
        self._clock = clock
        self._turn = asyncio.Lock()
        self.grants = grants

    async def load(self) -> None:
        """Takes over what the store has."""
        async with self._turn:
            await self._take_over()

    async def set(self, subject: str, rules: Mapping[str, Any], by: str) -> GrantRecord:
        """Replaces the grant of `subject`; nothing must be wrong with `rules`."""
        async with self._turn:
            await self._note("grant.set", subject, by, rules)
            record = await self._store.set_grant(subject, rules, by)
            await self._take_over()
            return record

    async def remove(self, subject: str, by: str) -> bool:
        """False where there is none."""
        async with self._turn:
            await self._note("grant.remove", subject, by, {})
            removed = await self._store.remove_grant(subject)
            await self._take_over()
            return removed

    async def _note(self, what: str, subject: str, by: str, rules: Mapping[str, Any]) -> None:
        await self._store.note(deed(what, subject, by=by, at=self._clock(), content=rules))

    async def _take_over(self) -> None:
        records = await self._store.grants()
        self.grants.replace_stored({record.subject: read(record.rules) for record in records})
