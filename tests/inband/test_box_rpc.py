"""`box rpc`, and the agents of `box.toml` that it starts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from inband.agents import problem
from inband.errors import Exit
from tests.inband.conftest import Box, stop
from tests.patience import PATIENCE_S, until

PROGRAM = Path(__file__).parents[1] / "exec_daemon" / "rpc" / "envelope_agent.py"
SETTINGS = f"""
[agents."echo"]
argv = [{json.dumps(sys.executable)}, {json.dumps(str(PROGRAM))}]
models = ["large"]
budget_usd = 2
"""


def line(request_id: str, kind: str, **payload: Any) -> str:
    return json.dumps({"id": request_id, "type": kind, "payload": payload}) + "\n"


def frames(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    return [json.loads(text) for text in done.stdout.splitlines() if text]


def test_requests_go_in_and_answers_and_events_come_out(box: Box) -> None:  # J-21, J-30
    settings = box.home.parent / "box.toml"
    settings.write_text(SETTINGS)
    box.variables["BOX_CONFIG"] = str(settings)
    daemon = box.start()
    try:
        asked = (
            line("1", "create_or_open_task", taskId="t1", model="large") + "{\n" + line("2", "runtime_diag")
        )
        done = box.run("rpc", stdin=asked)
        assert done.returncode == Exit.OK, done.stderr
        answers = [frame for frame in frames(done) if "ok" in frame]
        assert [(one["id"], one["ok"]) for one in answers] == [("1", True), (None, False), ("2", True)]
        assert answers[0]["result"]["mode"] == "created"
        with subprocess.Popen(
            box.argv("rpc"), env=box.environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as talking:
            assert talking.stdin is not None
            assert talking.stdout is not None
            talking.stdin.write(line("3", "prompt", message="spend"))
            talking.stdin.flush()
            seen = []
            while "task_paused" not in seen:
                frame = json.loads(talking.stdout.readline() or "null")
                seen.append(frame.get("event", frame.get("id")))
            assert seen == ["3", "cost_update", "task_paused"]
    finally:
        assert stop(daemon) == 0


def test_what_a_task_answers_in_a_thread_is_harvested(box: Box) -> None:  # J-18
    settings = box.home.parent / "box.toml"
    settings.write_text(SETTINGS)
    box.variables["BOX_CONFIG"] = str(settings)
    daemon = box.start()
    try:
        box.json("agent", "add", "echo")
        asked = line("1", "create_or_open_task", taskId="t1", thread="echo") + line(
            "2", "prompt", message="look"
        )
        assert [frame["ok"] for frame in frames(box.run("rpc", stdin=asked)) if "ok" in frame] == [True, True]

        def all_of_it() -> list[dict[str, str]]:
            found: list[dict[str, str]] = box.json("thread", "show", "echo")["messages"]
            return found if len(found) >= 3 else []

        said = until(all_of_it)
        assert [one["author_kind"] for one in said] == ["human", "agent", "system"]
        assert "box.exec" in said[-1]["body"]
    finally:
        assert stop(daemon) == 0


def test_a_closed_stdin_is_an_empty_one(running: Box) -> None:
    argv = ["sh", "-c", 'exec "$@" <&-', "sh", *running.argv("rpc")]
    done = subprocess.run(
        argv, env=running.environment(), capture_output=True, check=False, timeout=PATIENCE_S
    )
    assert (done.returncode, done.stderr) == (Exit.OK, b"")


def test_without_a_daemon_it_says_how_to_start_one(box: Box) -> None:
    done = box.run("rpc", stdin="")
    assert done.returncode == Exit.UNREACHABLE
    assert "box up" in done.stderr


def test_another_machines_daemon_is_not_for_it(box: Box) -> None:
    box.variables["BOX_URL"] = "https://elsewhere:8443"
    assert box.run("rpc", stdin="").returncode == Exit.USAGE


@pytest.mark.parametrize(
    ("agents", "said"),
    [
        ({"Heron": {"argv": ["x"]}}, "is no name"),
        ({"heron": {}}, "has no argv"),
        ({"heron": {"argv": []}}, "must be a list of strings, the program first"),
        ({"heron": {"argv": "x"}}, "must be a list of strings, the program first"),
        ({"heron": {"argv": ["x"], "models": [1]}}, "must be a list of strings"),
        ({"heron": {"argv": ["x"], "budget_usd": True}}, "must be a number of US dollars"),
        ({"heron": {"argv": ["x"], "shell": True}}, "unknown key `shell`"),
    ],
)
def test_what_is_wrong_with_an_agent_is_said(agents: dict[str, Any], said: str) -> None:
    assert said in (problem(agents) or "")


def test_the_settings_check_names_the_agent(box: Box) -> None:
    settings = box.home.parent / "box.toml"
    settings.write_text("[agents.heron]\nfolder = '/srv'\n")
    box.variables["BOX_CONFIG"] = str(settings)
    done = box.run("config", "check")
    assert done.returncode == Exit.USAGE
    assert "`heron` has no argv" in done.stderr
