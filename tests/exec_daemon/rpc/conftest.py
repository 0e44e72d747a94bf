"""A desk over a store in memory with agents in memory, and one client of it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from exec_daemon.rpc.desk import Desk
from exec_daemon.store import MemoryStore
from tests.exec_daemon.rpc._peers import MemoryAgents, Peer, connected, desk_over


@pytest.fixture
async def agents() -> MemoryAgents:
    return MemoryAgents()


@pytest.fixture
async def desk(store: MemoryStore, agents: MemoryAgents) -> AsyncIterator[Desk]:
    made = desk_over(store, agents)
    yield made
    await made.close()


@pytest.fixture
async def peer(desk: Desk) -> AsyncIterator[Peer]:
    async with connected(desk) as made:
        yield made
