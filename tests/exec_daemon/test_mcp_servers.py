"""Tools of MCP servers as ops: approved, called, changed, gone. The server is one of fastmcp, a process."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from exec_daemon.mcp_servers.spec import problem, specs
from tests.exec_daemon.conftest import start

SERVER = Path(__file__).with_name("mcp_server.py")
ROOT = SERVER.parents[2]
TOOLS = ["search", "write", "break_off", "die", "environment"]


def table(tmp_path: Path, **more: Any) -> dict[str, Any]:
    return {
        "notes": {
            "command": [sys.executable, str(SERVER)],
            "tools": TOOLS,
            "environment": {"CHANGED": str(tmp_path / "changed"), "PYTHONPATH": str(ROOT)},
            **more,
        }
    }


def toml(servers: dict[str, Any]) -> str:
    keys = servers["notes"]
    lines = [
        "[mcp.notes]",
        f"command = {json.dumps(keys['command'])}",
        f"tools = {json.dumps(keys['tools'])}",
    ]
    return "\n".join(
        [
            *lines,
            "[mcp.notes.environment]",
            *(f"{k} = {json.dumps(v)}" for k, v in keys["environment"].items()),
        ]
    )


def box(tmp_path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    (tmp_path / "box.toml").write_text(toml(table(tmp_path)))
    environment = {
        "BOX_HOME": str(tmp_path / "home"),
        "BOX_CONFIG": str(tmp_path / "box.toml"),
        "PATH": "/usr/bin",
    }
    argv = [sys.executable, "-m", "inband", "mcp", *words]
    return subprocess.run(
        argv, check=False, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60
    )


@pytest.fixture(scope="module")
def approved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a state in which the tools were approved; the server's process takes seconds to start."""
    folder = tmp_path_factory.mktemp("mcp")
    done = box(folder, "approve", "notes", "--yes")
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def running(approved: Path) -> Iterator[Any]:
    made = start(approved / "home", mcp=specs(table(approved)))
    made.agent("heron")
    yield made
    made.stop()


def call(running: Any, op: str, args: dict[str, Any] | None = None, who: str = "operator") -> dict[str, Any]:
    body: dict[str, Any] = running.exec(who, op, args or {}).json()
    return body


def test_only_approved_tools_are_ops(tmp_path: Path, start_daemon: Callable[..., Any]) -> None:
    running = start_daemon(mcp=specs(table(tmp_path)))
    assert call(running, "notes.search", {"query": "x"})["error"]["code"] == "UNKNOWN_OP"


def test_an_approved_tool_is_listed_with_its_schema_and_the_flag_that_it_says(running: Any) -> None:  # O-50
    ops = {op["op"]: op for op in running.client("operator").get("/ops").json()["ops"]}
    assert ops["notes.search"]["side_effecting"] is False
    assert ops["notes.write"]["side_effecting"] is True
    assert ops["notes.search"]["summary"] == "Search the notes."
    assert ops["notes.search"]["args_schema"]["required"] == ["query"]


def test_a_call_reaches_the_tool_and_its_answer_is_clean(running: Any) -> None:
    result = call(running, "notes.search", {"query": "herons"})["result"]["result"]
    assert result["found"] == ["note about herons [TOOL tools.list]"]
    again = call(running, "notes.search", {"query": "wrens"})["result"]["result"]
    assert again["pid"] == result["pid"]


def test_arguments_are_held_to_the_schema_before_the_server_is_asked(running: Any) -> None:
    wrong = call(running, "notes.search", {"query": 7})
    assert wrong["error"]["code"] == "INVALID_ARGS"
    assert wrong["error"]["details"]["problems"][0]["argument"] == "query"
    assert call(running, "notes.search", {})["error"]["code"] == "INVALID_ARGS"


def test_what_has_side_effects_happens_once_for_one_call_id(running: Any) -> None:
    said = [
        running.exec("operator", "notes.write", {"text": "a"}, call_id="w1").json()["result"]
        for _ in range(2)
    ]
    assert said[0] == said[1]
    assert call(running, "notes.write", {"text": "b"})["result"]["result"]["result"].startswith("kept ")


def test_an_agent_needs_a_grant_for_it(running: Any) -> None:
    assert call(running, "notes.search", {"query": "x"}, "agent/heron")["error"]["code"] == "FORBIDDEN"


def test_a_tool_that_says_that_it_failed_is_a_result_that_says_so(running: Any) -> None:
    result = call(running, "notes.break_off")["result"]
    assert result["is_error"] is True
    assert "the disk is full" in result["text"]


def test_the_servers_process_gets_no_variables_of_the_daemon(
    running: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_OF_THE_DAEMON", "x")
    names = call(running, "notes.environment")["result"]["result"]["result"]
    assert "SECRET_OF_THE_DAEMON" not in names
    assert "CHANGED" in names


def test_a_tool_that_changed_is_refused_until_it_is_approved_again(
    running: Any, approved: Path
) -> None:  # D112
    assert call(running, "notes.search", {"query": "x"})["ok"] is True
    assert call(running, "notes.die")["error"]["code"] == "UNAVAILABLE"
    assert call(running, "notes.search", {"query": "x"})["ok"] is True, "it was not started again"
    (approved / "changed").touch()
    call(running, "notes.die")
    refused = call(running, "notes.search", {"query": "x"})
    assert refused["error"]["code"] == "NOT_FOUND"
    assert "box mcp review notes" in refused["error"]["message"]
    assert "Then tell everybody" not in json.dumps(running.client("operator").get("/ops").json())
    reviewed = box(approved, "review", "notes")
    assert "search: CHANGED since it was approved" in reviewed.stdout


def test_the_list_names_what_is_approved(approved: Path) -> None:
    rows = json.loads(box(approved, "list", "--json").stdout)["tools"]
    assert {row["op"] for row in rows if row["approved"]} == {f"notes.{tool}" for tool in TOOLS}


def test_list_ops_has_the_approved_tools_too(approved: Path) -> None:  # O-51
    environment = {
        "BOX_HOME": str(approved / "home"),
        "BOX_CONFIG": str(approved / "box.toml"),
        "PATH": "/usr/bin",
    }
    argv = [sys.executable, "-m", "exec_daemon", "--list-ops"]
    printed = subprocess.run(argv, check=True, cwd=ROOT, env=environment, capture_output=True, timeout=60)
    assert "notes.search" in {op["op"] for op in json.loads(printed.stdout)}


def test_a_server_that_cannot_be_started_is_said_to_be_so(tmp_path: Path) -> None:
    servers = table(tmp_path) | {}
    servers["notes"]["command"] = ["/nonexistent/program"]
    (tmp_path / "box.toml").write_text(toml(servers))
    environment = {
        "BOX_HOME": str(tmp_path / "home"),
        "BOX_CONFIG": str(tmp_path / "box.toml"),
        "PATH": "/usr/bin",
    }
    argv = [sys.executable, "-m", "inband", "mcp", "review", "notes"]
    done = subprocess.run(
        argv, check=False, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1
    assert "the MCP server notes cannot be asked" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"url": "https://x", "command": ["y"], "tools": ["a"]}, "either `command` or `url`"),
        ({"tools": ["a"]}, "either `command` or `url`"),
        ({"url": "http://example.org/mcp", "tools": ["a"]}, "https://"),
        ({"url": "https://example.org/mcp"}, "box mcp review"),
        ({"url": "https://example.org/mcp", "tools": ["a"], "side_effecting": ["b"]}, "not among `tools`"),
        ({"url": "https://example.org/mcp", "tools": ["a"], "tolls": ["b"]}, "tools"),
    ],
)
def test_what_is_wrong_in_box_toml_is_said_with_the_way_out(keys: dict[str, Any], words: str) -> None:
    wrong = problem({"notes": keys})
    assert wrong is not None
    assert words in str(wrong)


def test_a_server_may_not_have_the_name_of_a_family_of_ours() -> None:
    assert "family" not in str(problem({"notes": {"url": "https://x", "tools": ["a"]}}))
    assert "families" in str(problem({"cron": {"url": "https://x", "tools": ["a"]}}))
