"""The tokens of `SqliteStore`: every request asks for one, so all of them are kept in memory too.

Only this process writes the file, and each write of a token ends what is kept before its caller goes on: a
token that was revoked is void at once. So requests are known while the disk does not serve.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping
from dataclasses import replace
from typing import Any, TypeVar

from exec_daemon.store.sqlite import directory
from exec_daemon.store.sqlite.part import SqlitePart
from exec_daemon.store.values import TokenRecord

T = TypeVar("T")


class SqliteTokens(SqlitePart):
    """`_changes` counts writes, so that a list that was read before one is not kept after it."""

    def __init__(self) -> None:
        super().__init__()
        self._by_sha256: dict[str, TokenRecord] | None = None
        self._changes = 0

    async def add_token(self, token: TokenRecord) -> None:
        await self._changing(self._write(directory.add_token, token))

    async def revoke_token(self, token_id: str) -> bool:
        return await self._changing(self._write(directory.revoke_token, token_id, self._clock()))

    async def _changing(self, write: Coroutine[Any, Any, T]) -> T:
        """Forgets what is kept when the write has ended, be its caller still there or not."""
        task = asyncio.create_task(write)
        task.add_done_callback(lambda _: self._forget())
        return await asyncio.shield(task)

    async def touch_tokens(self, used: Mapping[str, str]) -> None:
        await self._write(directory.touch_tokens, used)
        known = self._by_sha256 or {}
        for token in list(known.values()):
            if token.id in used:
                known[token.sha256] = replace(token, last_used_at=used[token.id])

    async def token_by_sha256(self, sha256: str) -> TokenRecord | None:
        self._check_open()
        while self._by_sha256 is None:
            before = self._changes
            found = {token.sha256: token for token in await self._read(directory.tokens)}
            if before == self._changes:
                self._by_sha256 = found
        return self._by_sha256.get(sha256)

    async def tokens(self) -> list[TokenRecord]:
        return await self._read(directory.tokens)

    def _forget(self) -> None:
        self._changes += 1
        self._by_sha256 = None
