"""`box-ctl`: the reads as a program."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from exec_daemon.box import ACTIONS
from exec_daemon.box_ctl import FAILED, OK, USAGE, main
from exec_daemon.store import Agent, open_store
from tests.patience import PATIENCE_S

ROOT = Path(__file__).parents[3]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BOX_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def box_ctl(*words: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Runs the program itself."""
    argv = [sys.executable, "-m", "exec_daemon.box_ctl", *words]
    return subprocess.run(
        argv, cwd=ROOT, env=os.environ | more, capture_output=True, text=True, check=False, timeout=PATIENCE_S
    )


def test_a_person_gets_a_table_and_a_program_one_document(home: Path, capsys) -> None:
    assert main(["disk"]) == OK
    assert "\nmounts\n" in capsys.readouterr().out
    assert main(["disk", "--json"]) == OK
    document = json.loads(capsys.readouterr().out)
    assert set(document) == {"action", "host", "at", "data"}


def test_help_lists_the_27_with_examples(capsys) -> None:  # O-40
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == OK
    shown = capsys.readouterr().out
    assert all(f"  {action.example} " in shown for action in ACTIONS)
    assert all(action.summary in shown for action in ACTIONS)


@pytest.mark.parametrize(
    "words", [["nope"], ["restart"], ["logs"], ["disk", "x"], ["process", "nginx"], ["repo", "../x"]]
)
def test_wrong_usage_ends_with_two_and_says_what_is_right(
    words: list[str], home: Path, capsys
) -> None:  # O-42
    assert main(words) == USAGE
    assert capsys.readouterr().err.startswith("box-ctl: box.exec ")


@pytest.mark.parametrize(
    "words", [[], ["logs", "--output=/tmp/pwn"], ["disk", "--repo", "x"], ["a", "b", "c"]]
)
def test_what_is_no_command_line_ends_with_two(words: list[str], capsys) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == USAGE


def test_what_is_not_there_ends_with_one_and_json_has_the_typed_error(home: Path, capsys) -> None:
    assert main(["repo", "gateway", "--json"]) == FAILED
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "NOT_FOUND"


def test_without_a_store_its_reads_are_unavailable_and_nothing_is_made(home: Path, capsys) -> None:  # O-45
    assert main(["agents", "--json"]) == OK
    assert json.loads(capsys.readouterr().out)["data"] == {"available": False}
    assert not home.exists()


async def register_heron(database: Path) -> None:
    store = await open_store(database)
    await store.add_agent(Agent(name="heron", thread="heron", role="agent"))
    await store.close()


def test_the_store_of_the_state_directory_is_read(home: Path, capsys) -> None:
    home.mkdir()
    asyncio.run(register_heron(home / "store.db"))
    assert main(["agents"]) == OK
    assert "heron" in capsys.readouterr().out
    assert main(["health", "--json"]) == OK


@pytest.mark.parametrize("content", [b"", b"not a database", b"SQLite format 3\0" + b"\0" * 200])
def test_a_damaged_store_fails_its_reads_only(content: bytes, home: Path, capsys) -> None:
    home.mkdir()
    (home / "store.db").write_bytes(content)
    assert main(["agents"]) == FAILED
    assert "store.db" in capsys.readouterr().err
    assert main(["memory"]) == OK


def test_a_checkout_is_named_on_the_command_line(repository, home: Path, capsys) -> None:
    assert main(["repos", "--json", "--repo", f"main={repository.root}"]) == OK
    assert json.loads(capsys.readouterr().out)["data"]["repos"][0]["branch"] == "main"


def test_secrets_of_its_environment_are_covered(home: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    home.mkdir()
    (home / "daemon.log").write_text("using correct-horse\n")
    monkeypatch.setenv("DEPLOY_TOKEN", "correct-horse")
    assert main(["logs", "daemon", "--json"]) == OK
    assert json.loads(capsys.readouterr().out)["data"]["lines"] == ["using [REDACTED]"]


def test_it_runs_as_a_program_and_shows_no_traceback(tmp_path: Path) -> None:
    there = box_ctl("info", "--json", BOX_HOME=str(tmp_path))
    assert (there.returncode, there.stderr) == (OK, "")
    assert json.loads(there.stdout)["action"] == "info"
    wrong = box_ctl("kill", BOX_HOME=str(tmp_path))
    assert wrong.returncode == USAGE
    assert wrong.stderr.count("\n") == 1


def test_it_looks_into_the_state_directory_that_the_command_would_use(tmp_path: Path) -> None:
    state = tmp_path / "inband"
    state.mkdir()
    (state / "daemon.log").write_text("here\n")
    for variables in ({"BOX_HOME": str(state)}, {"BOX_HOME": "", "XDG_STATE_HOME": str(tmp_path)}):
        assert json.loads(box_ctl("logs", "daemon", "--json", **variables).stdout)["data"]["lines"] == [
            "here"
        ]


def test_a_reader_that_leaves_early_is_no_fault(tmp_path: Path) -> None:
    command = f"{sys.executable} -m exec_daemon.box_ctl processes --json | true"
    ended = subprocess.run(["sh", "-c", command], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "Traceback" not in ended.stderr


def test_importing_the_table_loads_no_psutil_and_no_database() -> None:
    asked = "import sys, exec_daemon.box.table, exec_daemon.box.ports; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", asked], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not {"psutil", "sqlite3", "starlette"} & set(ran.stdout.split())
