"""Agents, tokens, cursors: what any store promises."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from exec_daemon.store import Agent, Exists, Store
from tests.contracts.samples import at, thread, token

HERON = Agent(name="heron", thread="heron")


async def test_an_agent_gets_a_home_thread(store: Store) -> None:
    assert await store.add_agent(HERON) == HERON
    home = await store.thread("heron")
    assert home is not None
    assert (home.agent, home.title) == ("heron", "heron")


async def test_an_agent_may_move_into_a_thread_that_is_its_own(store: Store) -> None:
    made = await store.create_thread(thread("nest", agent="heron"))
    await store.add_agent(Agent(name="heron", thread="nest"))
    assert await store.thread("nest") == made


async def test_an_agent_gets_no_thread_of_another(store: Store) -> None:
    await store.create_thread(thread("nest", agent="crane"))
    with pytest.raises(Exists):
        await store.add_agent(Agent(name="heron", thread="nest"))
    assert await store.agents() == []


async def test_an_agents_name_is_taken_once(store: Store) -> None:
    await store.add_agent(HERON)
    with pytest.raises(Exists) as refused:
        await store.add_agent(Agent(name="heron", thread="second-home"))
    assert refused.value.subject == "heron"
    assert await store.thread("second-home") is None


async def test_agents_are_listed_by_name(store: Store) -> None:
    for name in ("heron", "crane", "wren"):
        await store.add_agent(Agent(name=name, thread=name, role="worker"))
    assert [agent.name for agent in await store.agents()] == ["crane", "heron", "wren"]
    assert await store.agent("wren") == Agent(name="wren", thread="wren", role="worker")
    assert await store.agent("owl") is None


async def test_a_cursor_begins_at_zero_and_keeps_what_was_set(store: Store) -> None:
    assert await store.cursor("watcher") == 0
    await store.set_cursor("watcher", 7)
    await store.set_cursor("other", 9)
    await store.set_cursor("watcher", 3)
    assert (await store.cursor("watcher"), await store.cursor("other")) == (3, 9)


async def test_a_token_is_found_by_its_hash(store: Store) -> None:  # O-33
    record = token("heron", scopes=("box.exec", "dm.*"), expires_at=at(60))
    await store.add_token(record)
    assert await store.token_by_sha256(record.sha256) == record
    assert await store.token_by_sha256("0" * 64) is None


async def test_tokens_are_listed_oldest_first(store: Store) -> None:
    records = [token(name) for name in ("wren", "crane", "heron")]
    for record in records:
        await store.add_token(record)
    assert await store.tokens() == records


@pytest.mark.parametrize("clash", [{"id": "heron"}, {"sha256": token("heron").sha256}])
async def test_neither_id_nor_hash_of_a_token_is_taken_twice(store: Store, clash: dict[str, Any]) -> None:
    await store.add_token(token("heron"))
    with pytest.raises(Exists):
        await store.add_token(replace(token("crane"), **clash))
    assert await store.tokens() == [token("heron")]


async def test_a_token_is_revoked_once_and_for_good(store: Store) -> None:
    await store.add_token(token("heron"))
    assert await store.revoke_token("heron")
    revoked = await store.tokens()
    assert revoked[0].revoked_at == at(0)
    assert await store.revoke_token("heron")
    assert await store.tokens() == revoked
    assert not await store.revoke_token("nobody")


async def test_the_last_use_of_tokens_is_noted_in_one_go(store: Store) -> None:
    for name in ("heron", "crane", "wren"):
        await store.add_token(token(name))
    await store.touch_tokens({"heron": at(5), "wren": at(6), "nobody": at(7)})
    assert [t.last_used_at for t in await store.tokens()] == [at(5), None, at(6)]
