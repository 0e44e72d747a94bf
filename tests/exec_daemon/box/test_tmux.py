"""tmux: a real server of the test's own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from exec_daemon.box import BoxContext, read
from exec_daemon.box.ports import WorkerFacts
from exec_daemon.box.tmux import pane_text
from tests.patience import until

pytestmark = pytest.mark.needs("tmux")


def seen(context: BoxContext) -> tuple[str, str]:
    """Command and directory of the first pane."""
    pane = read("tmux", None, context)["data"]["panes"][0]
    return pane["command"], pane["cwd"]


@pytest.fixture
def context(context: BoxContext, tmux_server) -> BoxContext:
    return replace(context, tmux_socket=tmux_server.socket)


def test_panes_are_listed_with_their_process_and_directory(context, tmux_server, tmp_path: Path) -> None:
    tmux_server.tmux("new-session", "-d", "-s", "work", "-c", str(tmp_path), "exec sleep 60")
    # tmux asks the kernel, which for a moment shows the shell that becomes `sleep`, or nothing.
    until(lambda: seen(context) == ("sleep", str(tmp_path)))
    data = read("tmux", None, context)["data"]
    (pane,) = data["panes"]
    assert data["sessions"] == ["work"]
    assert (pane["active"], pane["dead"]) == (True, False)
    assert pane["pid"] == int(tmux_server.tmux("display", "-p", "#{pane_pid}"))
    assert pane["last_activity"].endswith("Z")


def test_a_directory_name_cannot_forge_a_pane(context, tmux_server, tmp_path: Path) -> None:
    hostile = tmp_path / "a\nforged\t0\x1f%9\x1b[31m"
    hostile.mkdir()
    tmux_server.tmux("new-session", "-d", "-s", "work", "-c", str(hostile), "exec sleep 60")
    tmux_server.tmux("new-session", "-d", "-s", "next", "exec sleep 60")
    panes = read("tmux", None, context)["data"]["panes"]
    assert sorted(pane["session"] for pane in panes) == ["next", "work"]
    assert "\x1b" not in str(panes)


def test_no_server_is_unavailable_and_none_is_started(context, tmux_server) -> None:  # O-44, O-45
    document = read("tmux", None, context)
    assert document["data"] == {"available": False}
    assert not tmux_server.socket.exists()


def test_a_worker_shows_the_end_of_its_pane(context, tmux_server, facts) -> None:
    show = "for i in $(seq 300); do echo line $i; done; sleep 60"
    tmux_server.tmux("new-session", "-d", "-s", "w1", show)
    facts.worker_facts = [WorkerFacts(id="w1", state="running", tmux_target="w1", agent="heron")]
    until(lambda: "line 300" in read("worker", "w1", context)["data"]["lines"])
    data = read("worker", "w1", context)["data"]
    assert data["worker"]["state"] == "running"
    assert 50 < len(data["lines"]) <= 200


def test_what_a_pane_shows_is_cleaned(context, tmux_server, facts) -> None:
    tmux_server.tmux(
        "new-session", "-d", "-s", "w1", "printf '\\033[31mred\\033[0m token=CANARY%s\\n' X; sleep 60"
    )
    facts.worker_facts = [WorkerFacts(id="w1", state="running", tmux_target="%0", agent="heron")]
    until(lambda: "red token=[REDACTED]" in read("worker", "w1", context)["data"]["lines"])


@pytest.mark.parametrize("target", ["-t", "w1;kill-server", "a b", "", "w1\n", "{last}", "w1:0.0.0", "!"])
def test_a_target_that_is_no_plain_name_is_not_asked_for(target: str, context, tmux_server) -> None:
    tmux_server.tmux("new-session", "-d", "-s", "w1", "exec sleep 60")
    assert pane_text(context, target) is None


def test_a_worker_without_a_pane_says_so(context, facts) -> None:
    facts.worker_facts = [WorkerFacts(id="w1", state="dead", alive=False, tmux_target="gone", agent="heron")]
    document = read("worker", "w1", context)
    assert document["data"]["lines"] == []
    assert "pane" in document["notes"][0]
