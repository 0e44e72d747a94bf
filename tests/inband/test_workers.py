"""`[workers]` in box.toml: what may be written, and how a person is told what is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from exec_daemon.worker_template import WorkerRuntime
from inband import workers
from tests.inband.conftest import Box


def wrong(**keys: Any) -> str:
    return str(workers.problem({"coder": {"argv": ["agent"], **keys}}))


def test_what_is_complete_is_what_daemon_and_host_get(tmp_path: Path) -> None:
    table: dict[str, dict[str, Any]] = {
        "coder": {
            "argv": ["claude", "-p"],
            "adapter": "claude",
            "environment": ["ANTHROPIC_API_KEY"],
            "folder": str(tmp_path),
            "time_limit_s": 60,
            "term_s": 2,
            "most": 3,
        },
        "pair": {"argv": ["claude"], "runtime": "tmux"},
    }
    assert workers.problem(table) is None
    coder, pair = workers.templates(table).values()
    assert (coder.in_folder, coder.time_limit_s, coder.most) == (True, 60, 3)
    assert (pair.in_folder, pair.runtime) == (False, WorkerRuntime.TMUX)
    host = workers.host_templates(table)
    assert host["coder"].argv == ("claude", "-p")
    assert (host["coder"].adapter, host["coder"].term_s) == ("claude", 2)
    assert host["pair"].runtime == "tmux"


def test_the_walls_of_a_container_are_what_the_host_gets(tmp_path: Path) -> None:  # T-82
    llm = tmp_path / "llm.json"
    llm.write_text('{"baseUrl": "http://127.0.0.1/v1", "token": "t", "model": "m", "maxContextTokens": 9}')
    keys = {
        "argv": ["agent"],
        "runtime": "container",
        "engine": "podman",
        "image": "box:1",
        "network": True,
        "mounts": [{"path": "/srv/notes", "at": "notes", "writable": True}, {"path": "/srv/more"}],
        "llm": str(llm),
    }
    assert workers.problem({"coder": keys}) is None
    walls = workers.host_templates({"coder": keys})["coder"].walls
    assert walls is not None
    assert walls.engine is not None
    assert (walls.engine.program, walls.engine.image, walls.engine.network) == ("podman", "box:1", True)
    assert walls.mounts == [
        {"hostPath": "/srv/notes", "readonly": False, "containerPath": "notes"},
        {"hostPath": "/srv/more", "readonly": True},
    ]
    assert walls.llm is not None
    assert walls.allowlist is not None


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"argv": []}, "a list of strings"),
        ({"argv": "agent"}, "a list of strings"),
        ({"runtime": "docker"}, "one of child, tmux"),
        ({"adapter": "clade"}, "the name of an adapter"),
        ({"environment": ["BOX_TOKEN"]}, "none of ours"),
        ({"environment": ["A=B"]}, "names of variables"),
        ({"folder": "/no/such/folder"}, "a folder that is there"),
        ({"heartbeat_s": 31}, "from 1 to 30"),
        ({"most": True}, "from 1 to 1000"),
        ({"shell": "x"}, "unknown key; known ones: argv, runtime"),
        ({"runtime": "tmux", "adapter": "claude"}, "is for a child"),
        ({"mounts": [{"path": "/srv"}]}, "is for a container"),
        ({"runtime": "container", "mounts": [{"path": "/srv", "mode": "rw"}]}, "a list of {path, at?, writ"),
        ({"runtime": "container", "engine": "--privileged"}, "the program of an engine"),
        ({"runtime": "container", "engine": "podman"}, "podman needs one"),
        ({"runtime": "container", "image": "box:1"}, "bubblewrap has none"),
        ({"runtime": "container", "llm": "/no/such/file"}, "a file that is there"),
        (
            {"runtime": "tmux", "argv": ["/bin/bash", "--norc"]},
            "a shell in a pane would run what agents write",
        ),
    ],
)
def test_what_is_wrong_says_where_and_what_it_must_be(keys: dict[str, Any], says: str) -> None:
    assert says in wrong(**keys)
    assert "`coder`" in wrong(**keys)


def test_a_program_that_a_shell_runs_is_no_shell_that_waits() -> None:
    assert wrong(runtime="tmux", argv=["sh", "agent.sh"]) == "None"


def test_the_line_of_the_file_is_named(tmp_path: Path) -> None:
    file = tmp_path / "box.toml"
    file.write_text('[workers."coder"]\nargv = ["agent"]\nruntime = "docker"\n')
    done = Box(tmp_path / "state", {"BOX_CONFIG": str(file)}).run("config", "check")
    assert done.returncode == 2
    assert f"{file}:3: `workers`: `coder`, `runtime`: must be one of child, tmux" in done.stderr
