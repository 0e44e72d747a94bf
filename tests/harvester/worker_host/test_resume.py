"""The next turn of a child goes on with the agent's own session (A-08)."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from harvester import DaemonClient
from harvester.worker_host.children import Children
from harvester.worker_host.ending import Endings
from harvester.worker_host.template import HostTemplate
from harvester.worker_host.turns import Turn
from tests.harvester.worker_host.test_turns import ENVELOPE, thread

ROW: dict[str, Any] = {"id": "w-1", "cwd": None, "session": "sess-12345678"}


def nobody() -> DaemonClient:
    raise AssertionError("nobody is asked")


def test_a_session_that_the_store_knows_is_resumed(tmp_path: Path) -> None:
    children = Children(tmp_path, time.monotonic, nobody, Endings(tmp_path, time.monotonic))
    template = HostTemplate(name="coder", argv=("claude", "-p"), adapter="claude", cwd=tmp_path)
    mine = children.known(ROW)
    command = children.command(ROW, template, Turn(thread(ENVELOPE)[0], "go on"), mine.session)
    assert command.argv[-2:] == ["--resume", "sess-12345678"]
    assert command.prompt == b"go on"
    assert command.folder == tmp_path
