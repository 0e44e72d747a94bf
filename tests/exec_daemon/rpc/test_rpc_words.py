"""Tasks that speak in a thread: prompts become messages, answers become replies, for who may record them."""

from __future__ import annotations

import pytest

from exec_daemon.rpc.desk import Desk
from exec_daemon.store import Agent, MemoryStore, NewThread
from messaging import AuthorKind
from tests.exec_daemon.rpc._peers import HERON, MemoryAgents, Peer, connected


@pytest.fixture(autouse=True)
async def threads(store: MemoryStore) -> None:
    await store.add_agent(Agent(name="echo", thread="echo"))
    await store.add_agent(Agent(name="heron", thread="heron"))
    await store.create_thread(NewThread(id="nobody", title=""))


async def test_prompts_and_answers_stand_in_the_thread(
    peer: Peer, desk: Desk, agents: MemoryAgents, store: MemoryStore
) -> None:  # J-18
    await peer.done("create_or_open_task", taskId="t1", provider="echo", thread="echo")
    for number in (1, 2):
        await peer.done("prompt", message=f"question {number}")
        agents.opened[0].audience.said("agent_end", {"text": f"answer {number}"})
    await desk.close()
    said = [(one.author, one.author_kind, one.body) for one in await store.messages("echo")]
    assert said == [
        ("local", AuthorKind.HUMAN, "question 1"),
        ("echo", AuthorKind.AGENT, "answer 1"),
        ("local", AuthorKind.HUMAN, "question 2"),
        ("echo", AuthorKind.AGENT, "answer 2"),
    ]
    assert [one.body for one in await store.replies()] == ["answer 1", "answer 2"]


async def test_an_end_without_words_is_no_reply(
    peer: Peer, desk: Desk, agents: MemoryAgents, store: MemoryStore
) -> None:
    await peer.done("create_or_open_task", taskId="t1", provider="echo", thread="echo")
    await peer.done("create_or_open_task", taskId="t2", provider="echo")
    for agent, text in ((0, ""), (0, 7), (1, "no thread")):
        agents.opened[agent].audience.said("agent_end", {"text": text})
    await desk.close()
    assert await store.replies() == []


@pytest.mark.parametrize("thread", ["heron", "nobody", "missing"])
async def test_an_agent_speaks_only_where_it_answers(peer: Peer, thread: str) -> None:  # O-83
    code = await peer.refused("create_or_open_task", taskId="t1", provider="echo", thread=thread)
    assert code == "INVALID_REQUEST"


async def test_an_agent_cannot_have_words_recorded(desk: Desk) -> None:  # O-83
    async with connected(desk, HERON) as peer:
        own = await peer.refused("create_or_open_task", taskId="t1", provider="echo", thread="heron")
        foreign = await peer.refused("create_or_open_task", taskId="t1", provider="echo", thread="echo")
    assert (own, foreign) == ("FORBIDDEN", "INVALID_REQUEST")
