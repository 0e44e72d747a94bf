"""Agents, tokens and cursors in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from exec_daemon.store.errors import Exists
from exec_daemon.store.memory.threads import MemoryThreads
from exec_daemon.store.values import Agent, NewThread, TokenRecord


class MemoryDirectory(MemoryThreads):
    """The `Directory` part of the port; an agent comes with a thread."""

    async def add_agent(self, agent: Agent) -> Agent:
        at = self._clock()
        if await self.agent(agent.name) is not None:
            raise Exists(f"there is an agent {agent.name!r} already", agent.name)
        home = self._tables.threads.get(agent.thread)
        if home is None or home.agent != agent.name:
            self._make_thread(NewThread(id=agent.thread, title=agent.name, agent=agent.name), at)
        self._tables.agents[agent.name] = agent
        return agent

    async def agent(self, name: str) -> Agent | None:
        if name in self._tables.workers:
            return Agent(name=name, thread=self._tables.workers[name].thread, role="worker")
        return self._tables.agents.get(name)

    async def agents(self) -> list[Agent]:
        return sorted(self._tables.agents.values(), key=lambda agent: agent.name)

    async def cursor(self, name: str) -> int:
        return self._tables.cursors.get(name, 0)

    async def set_cursor(self, name: str, position: int) -> None:
        self._tables.cursors[name] = position

    async def add_token(self, token: TokenRecord) -> None:
        if token.id in self._tables.tokens or await self.token_by_sha256(token.sha256):
            raise Exists(f"there is a token {token.id!r} already", token.id)
        self._tables.tokens[token.id] = token

    async def token_by_sha256(self, sha256: str) -> TokenRecord | None:
        return next((t for t in self._tables.tokens.values() if t.sha256 == sha256), None)

    async def tokens(self) -> list[TokenRecord]:
        return list(self._tables.tokens.values())

    async def revoke_token(self, token_id: str) -> bool:
        at, token = self._clock(), self._tables.tokens.get(token_id)
        if token is None:
            return False
        self._tables.tokens[token_id] = replace(token, revoked_at=token.revoked_at or at)
        return True

    async def touch_tokens(self, used: Mapping[str, str]) -> None:
        tokens = self._tables.tokens
        for token_id in used.keys() & tokens.keys():
            tokens[token_id] = replace(tokens[token_id], last_used_at=used[token_id])
