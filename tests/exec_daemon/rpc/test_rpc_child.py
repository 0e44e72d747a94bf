"""Agents as real processes: they have to introduce themselves, are drained, and are ended for good."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from exec_daemon.rpc.child import ChildAgent, ChildAgents
from exec_daemon.rpc.port import NotOpened, Opening
from messaging.rpc import RpcCode
from tests.patience import PATIENCE_S

PROGRAM = str(Path(__file__).parent / "envelope_agent.py")


class Heard:
    """An audience that notes everything."""

    def __init__(self) -> None:
        self.events: list[tuple[str, Mapping[str, Any]]] = []
        self.exit_code: int | None = None
        self._news = asyncio.Event()

    def said(self, event: str, payload: Mapping[str, Any]) -> None:
        self.events.append((event, payload))
        self._news.set()

    def ended(self, exit_code: int | None) -> None:
        self.exit_code = exit_code
        self.said("ended", {})

    async def until(self, event: str) -> Mapping[str, Any]:
        async with asyncio.timeout(PATIENCE_S):
            while True:
                for name, payload in self.events:
                    if name == event:
                        return payload
                self._news.clear()
                await self._news.wait()


@pytest.fixture
def heard() -> Heard:
    return Heard()


async def start(heard: Heard, mode: str = "", ready_s: float = PATIENCE_S, **variables: str) -> ChildAgent:
    agents = ChildAgents(environment=os.environ, ready_s=ready_s)
    return await agents.open(Opening(argv=(sys.executable, PROGRAM, mode), variables=variables), heard)


@pytest.fixture
async def agent(heard: Heard) -> AsyncIterator[ChildAgent]:
    made = await start(heard, "able", BOX_TASK_MODEL="large")
    yield made
    await made.stop()


async def test_an_agent_is_told_and_heard(agent: ChildAgent, heard: Heard) -> None:  # J-18, J-27
    assert agent.capabilities == {"pause", "cancel"}
    assert agent.listens
    agent.tell("prompt", {"message": "hello", "promptId": "p1"})
    assert await heard.until("agent_output") == {"chunk": "hello large"}
    assert await heard.until("agent_end") == {"usage": {"input_tokens": 1}}


async def test_lines_of_no_shape_are_output_that_has_none(agent: ChildAgent, heard: Heard) -> None:  # J-26
    agent.tell("prompt", {"message": "plain"})
    assert await heard.until("agent_output") == {"chunk": "no JSON at all\n", "structured": False}


async def test_what_an_agent_answers_to_us_is_no_output(agent: ChildAgent, heard: Heard) -> None:
    agent.tell("pause", {"reason": "lunch"})
    assert await heard.until("heard") == {"request": "pause", "said": {"reason": "lunch"}}
    agent.tell("prompt", {"message": "x"})
    await heard.until("agent_end")
    assert [name for name, _ in heard.events] == ["heard", "agent_output", "agent_end"]


async def test_ten_mebibytes_on_stderr_hold_nobody_up(agent: ChildAgent, heard: Heard) -> None:  # J-28
    agent.tell("prompt", {"message": "flood"})
    await heard.until("agent_end")


async def test_the_end_of_a_process_is_heard_once(agent: ChildAgent, heard: Heard) -> None:  # J-23
    agent.tell("prompt", {"message": "die"})
    await heard.until("ended")
    assert heard.exit_code == 7
    assert agent.has_ended
    assert not agent.listens
    agent.tell("prompt", {"message": "still there?"})


async def test_what_an_agent_leaves_behind_does_not_keep_it_alive(
    agent: ChildAgent, heard: Heard
) -> None:  # J-23, J-28
    agent.tell("prompt", {"message": "leave"})
    await heard.until("ended")
    assert heard.exit_code == 0


@pytest.mark.parametrize(
    ("mode", "code"),
    [
        ("silent", RpcCode.ENVELOPE_REQUIRED),
        ("plain", RpcCode.ENVELOPE_REQUIRED),
        ("exits", RpcCode.TASK_BOOTSTRAP_FAILED),
    ],
)
async def test_an_agent_that_does_not_introduce_itself_is_ended(
    heard: Heard, mode: str, code: RpcCode
) -> None:  # J-27
    with pytest.raises(NotOpened) as refused:
        await start(heard, mode, ready_s=1.0 if mode == "silent" else PATIENCE_S)
    assert refused.value.code is code
    assert heard.events == []
    if mode == "exits":
        assert "no licence" in str(refused.value)


async def test_a_program_that_does_not_exist_is_a_typed_refusal(heard: Heard) -> None:  # J-25
    with pytest.raises(NotOpened) as refused:
        await ChildAgents(environment={}).open(Opening(argv=("/nowhere/agent",)), heard)
    assert refused.value.code is RpcCode.TASK_BOOTSTRAP_FAILED


async def test_a_process_that_ignores_term_is_killed(heard: Heard) -> None:  # J-19
    stubborn = await start(heard, "stubborn")
    began_s = time.monotonic()
    await stubborn.stop()
    assert stubborn.has_ended
    assert heard.exit_code == -9
    assert time.monotonic() - began_s >= 1.2
