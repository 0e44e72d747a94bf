"""docs/rpc.md is a test: its conversation is held, and its tables are the tables of the code."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from exec_daemon.rpc.commands import COMMANDS
from exec_daemon.rpc.desk import Desk
from exec_daemon.rpc.port import Audience, Opening
from exec_daemon.rpc.runtime import OURS
from exec_daemon.store import MemoryStore
from messaging.rpc import CODES, TaskState
from tests.exec_daemon.rpc._peers import MemoryAgent, MemoryAgents, connected, desk_over
from tests.exec_daemon.test_docs_api import shape

PAGE = (Path(__file__).parents[3] / "docs" / "rpc.md").read_text(encoding="utf-8")


class Echo(MemoryAgent):
    """Says each prompt back."""

    def tell(self, kind: str, payload: Mapping[str, Any]) -> None:
        say = asyncio.get_running_loop().call_soon
        say(self.audience.said, "agent_output", {"chunk": payload["message"]})
        say(self.audience.said, "agent_end", {"usage": {"input_tokens": 1}})


class Echoes(MemoryAgents):
    async def open(self, opening: Opening, audience: Audience) -> MemoryAgent:
        return Echo(opening, audience)


@pytest.fixture
def desk(store: MemoryStore) -> Desk:
    return desk_over(store, Echoes())


async def test_the_conversation_of_the_page_goes_as_it_says(desk: Desk) -> None:  # J-02 to J-04, J-15
    block = re.search(r"```jsonl\n(.*?)```", PAGE, re.DOTALL)
    assert block
    async with connected(desk) as peer:
        for text in block[1].splitlines():
            frame = json.loads(text[2:])
            if text.startswith("> "):
                peer.write(frame)
                continue
            said = await peer.read()
            assert shape(said) == shape(frame), text
            for key in ("id", "event", "seq", "ok"):
                assert said.get(key) == frame.get(key), text


def rows(header: str) -> list[list[str]]:
    """The cells of the table whose first column has this name."""
    table = re.search(rf"^\| {header} \|.*?\n\|[-|]+\n(.*?)(?:\n\n|\Z)", PAGE, re.DOTALL | re.MULTILINE)
    assert table
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in table[1].splitlines()]


def test_the_page_has_every_command_with_its_payload() -> None:
    written = {
        row[0].strip("`"): (re.findall(r"`(\w+)`", row[1]), row[2] == "yes") for row in rows("command")
    }
    assert written == {
        name: ([field.alias for field in command.payload.model_fields.values()], command.writes)
        for name, command in COMMANDS.items()
    }


def test_the_page_has_every_code_and_state() -> None:  # J-24, J-25
    assert rows("code") == [
        [f"`{code}`", "yes" if row.retryable else "no", row.meaning] for code, row in CODES.items()
    ]
    assert [row[0].strip("`") for row in rows("state")] == list(TaskState)


def test_the_page_has_every_event_that_only_the_daemon_says() -> None:  # J-22
    named = {name for row in rows("event") for name in re.findall(r"`(\w+)`", row[0])}
    assert OURS - {"ready"} <= named
