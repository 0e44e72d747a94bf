"""A turn of a worker in a container: what it sees, what comes back, and which folders the allowlist gives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harvester.adapters import Status
from harvester.container.engine import Engine
from harvester.container.lock import LaneBusy, held
from harvester.container.mounts import MountRefused
from harvester.worker_host import HostTemplate, Walls
from harvester.worker_host.contained import contained, forget, layout_of

ROW: dict[str, Any] = {"id": "w-1", "name": "disk", "thread": "w-1", "cwd": None}
OUR_AGENT = ("python3", "-m", "inband_agent", "--script", "/workspace/group/script.json")
# Says what it was told and what it sees.
LOOKS = """
import json, os, sys
told = json.load(sys.stdin)
def may_write(path):
    try:
        open(os.path.join(path, "x"), "w").close()
    except OSError:
        return False
    return True
seen = {
    "prompt": told["prompt"],
    "session": told["sessionId"] if "sessionId" in told else None,
    "here": os.getcwd(),
    "workspace": sorted(os.listdir("/workspace")),
    "extra": sorted(os.listdir("/workspace/extra")) if os.path.exists("/workspace/extra") else [],
    "writes": [path for path in ("group", "global", "ipc", "extra/notes") if may_write("/workspace/" + path)],
    "home": os.environ["HOME"],
    "worker": os.environ.get("INBAND_WORKER"),
    "secret": os.environ.get("NOT_NAMED"),
    "host": os.path.exists(sys.argv[1]),
}
print("noise")
print("---TALON_OUTPUT_START---")
print(json.dumps({"status": "success", "result": json.dumps(seen), "newSessionId": "s-1"}))
print("---TALON_OUTPUT_END---")
"""


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "looks.py").write_text(LOOKS)
    return folder


def template(work: Path, argv: tuple[str, ...], **walls: Any) -> HostTemplate:
    return HostTemplate(name="walled", argv=argv, runtime="container", folder=work, walls=Walls(**walls))


def allowing(tmp_path: Path, *roots: Path) -> Path:
    file = tmp_path / "mount-allowlist.json"
    file.write_text(json.dumps({"allowedRoots": [{"path": str(root)} for root in roots]}))
    return file


@pytest.mark.needs("bwrap")
def test_a_turn_sees_the_places_of_the_protocol_and_nothing_else_of_the_host(
    work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # T-80, T-82
    monkeypatch.setenv("NOT_NAMED", "secret")
    notes = tmp_path / "notes"
    notes.mkdir()
    walled = template(
        work,
        ("python3", "/workspace/group/looks.py", str(work)),
        mounts=[{"hostPath": str(notes), "readonly": False}],
        allowlist=allowing(tmp_path, notes),
    )
    outcome = contained(ROW, walled, "look", "s-0", tmp_path / "state")
    assert (outcome.status, outcome.heard.session) == (Status.SUCCESS, "s-1")
    assert json.loads(outcome.reply or "") == {
        "prompt": "look",
        "session": "s-0",
        "here": "/workspace/group",
        "workspace": ["extra", "global", "group", "ipc"],
        "extra": ["notes"],
        "writes": ["group", "ipc"],
        "home": "/home/agent",
        "worker": "w-1",
        "secret": None,
        "host": False,
    }


@pytest.mark.needs("bwrap")
def test_our_agent_goes_on_with_its_session_in_the_next_turn(work: Path, tmp_path: Path) -> None:  # T-16
    (work / "script.json").write_text(json.dumps({"turns": [{"say": "heard: {prompt}"}]}))
    walled, home = template(work, OUR_AGENT), tmp_path / "state"
    first = contained(ROW, walled, "one", None, home)
    second = contained(ROW, walled, "two", first.heard.session, home)
    assert (first.reply, second.reply) == ("heard: one", "heard: two")
    assert second.heard.session == first.heard.session
    (transcript,) = (layout_of(home).state("w-1") / "sessions").iterdir()
    assert len(transcript.read_text().splitlines()) == 4
    assert second.heard.spent.input_tokens is not None


def test_a_folder_that_the_allowlist_does_not_give_starts_nothing(work: Path, tmp_path: Path) -> None:
    # T-82, T-83
    asked: dict[str, Any] = {"mounts": [{"hostPath": str(work)}]}
    for allowlist in (None, tmp_path / "missing.json", allowing(tmp_path, tmp_path / "elsewhere")):
        walled = template(work, ("true",), allowlist=allowlist, **asked)
        with pytest.raises(MountRefused, match="allowedRoots"):
            contained(ROW, walled, "look", None, tmp_path / "state")


def test_two_agents_never_share_the_places_of_a_worker(work: Path, tmp_path: Path) -> None:  # T-86
    walled, home = template(work, ("true",)), tmp_path / "state"
    with held(layout_of(home).lock("w-1"), "w-1"), pytest.raises(LaneBusy):
        contained(ROW, walled, "look", None, home)


# A first line `#!` takes no path with blanks, which the place of a checkout may have.
FAKE = """#!/usr/bin/env python3
import json, os, sys
with open({log!r}, "a") as log:
    log.write(json.dumps(sys.argv[1:]) + "\\n")
if sys.argv[1] == "run":
    os.execvp(sys.argv[sys.argv.index("box:1") + 1], sys.argv[sys.argv.index("box:1") + 1:])
"""
FRAME = '---TALON_OUTPUT_START---\n{"status": "success", "result": "done"}\n---TALON_OUTPUT_END---'


def test_an_engine_gets_the_same_places_and_no_value_on_its_command_line(
    work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # T-18, T-80; a program stands for the engine: what is tested is what it is told
    monkeypatch.setenv("API_KEY", "of-great-value")
    program, log = tmp_path / "engine", tmp_path / "log"
    program.write_text(FAKE.format(log=str(log)))
    program.chmod(0o700)
    engine = Engine(program=str(program), image="box:1")
    walled = HostTemplate(
        name="walled",
        argv=("printf", "%s\\n", FRAME),
        runtime="container",
        folder=work,
        environment=("API_KEY",),
        walls=Walls(engine=engine),
    )
    assert contained(ROW, walled, "look", None, tmp_path / "state").reply == "done"
    before, run, after = (json.loads(line) for line in log.read_text().splitlines())
    assert before == after == ["rm", "--force", "inband-w-1"]
    assert {"--network=none", "--name=inband-w-1", "--env=API_KEY", "--cap-drop=ALL"} <= set(run)
    assert f"--mount=type=bind,source={work},target=/workspace/group" in run
    assert any(one.endswith("target=/workspace/global,readonly") for one in run)
    assert "of-great-value" not in log.read_text()


def test_a_container_that_fails_says_why(work: Path, tmp_path: Path) -> None:  # T-11
    program = tmp_path / "engine"
    program.write_text("#!/bin/sh\n[ $1 = rm ] || { echo no such image >&2; exit 125; }\n")
    program.chmod(0o700)
    walled = template(work, ("true",), engine=Engine(program=str(program), image="box:1"))
    outcome = contained(ROW, walled, "look", None, tmp_path / "state")
    assert outcome.failure is not None
    assert outcome.failure.message == "it ended with 125: no such image"


def test_the_places_of_a_worker_that_is_forgotten_go(tmp_path: Path) -> None:
    layout = layout_of(tmp_path)
    for worker in ("w-1", "w-2"):
        layout.prepare(worker, worker)
    forget(tmp_path, lambda worker: worker == "w-2")
    assert layout.lanes() == ["errors", "w-2"]
    assert (layout.group("w-1").exists(), layout.group("w-2").exists()) == (False, True)
