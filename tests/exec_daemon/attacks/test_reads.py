"""All 27 reads in a daemon that stands in a hostile place: which programs they run, what they give away."""

from __future__ import annotations

import json
import os
import ssl
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

from patterns import vocabulary
from tests.patience import PATIENCE_S, until

pytestmark = pytest.mark.needs("git")

ROOT = Path(__file__).resolve().parents[3]
ACTIONS = list(vocabulary().box_actions.values())
PROGRAMS = {"git", "tmux", "systemctl", "journalctl"}

# A daemon that notes each program that it starts, as the interpreter tells it.
DAEMON = """
import json, os, sys
root, home, notes, repository = sys.argv[1:]

def note(event, about):
    if event in ("os.system", "os.exec", "os.posix_spawn", "subprocess.Popen"):
        written = os.open(notes, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(written, json.dumps([event, *map(str, about[:3])]).encode() + b"\\n")
        os.close(written)

sys.addaudithook(note)
sys.path.insert(0, root)
from pathlib import Path
from exec_daemon import DaemonSettings, serve
serve(DaemonSettings(home=Path(home), port=0, repos={"r": Path(repository)}))
"""


@dataclass
class Hostile:
    """Where the daemon stands, what was run there, and the answers to all reads."""

    marker: Path
    started: list[list[str]]
    answers: dict[str, Any]


def trapped(folder: Path, marker: Path) -> Path:
    """A home with configuration for whatever reads some, programs with the names of ours, and modules."""
    trap = folder / "trap"
    trap.write_text(f'#!/bin/sh\necho "$0 $*" >> {marker}\n')
    trap.chmod(0o755)
    (folder / ".gitconfig").write_text(
        f"[core]\n\tfsmonitor = {trap}\n\tpager = {trap}\n[pager]\n\tstatus = {trap}\n"
    )
    (folder / ".tmux.conf").write_text(f"run-shell {trap}\n")
    (folder / ".curlrc").write_text("proxy = http://127.0.0.1:1\n")
    for name in (".pythonrc.py", "json.py", "psutil.py", "sitecustomize.py", "usercustomize.py"):
        (folder / name).write_text(f"open({str(marker)!r}, 'a').write(__file__)\n")
    for name in ("git", "tmux", "systemctl", "journalctl", "sh", "df"):
        (folder / name).symlink_to(trap)
    return trap


def environment(folder: Path, trap: Path) -> dict[str, str]:
    return {
        "HOME": str(folder),
        "PATH": f"{folder}:.:{os.environ['PATH']}",
        "GIT_CONFIG_GLOBAL": str(folder / ".gitconfig"),
        "XDG_CONFIG_HOME": str(folder),
        "PYTHONPATH": str(folder),
        "PYTHONSTARTUP": str(folder / ".pythonrc.py"),
        "BASH_ENV": str(trap),
        "ENV": str(trap),
        **dict.fromkeys(
            ("GIT_PAGER", "PAGER", "GIT_SSH_COMMAND", "EDITOR", "SYSTEMD_PAGER", "LESSOPEN"), str(trap)
        ),
        "CANARY_TOKEN": "CANARY-ENV",
    }


def all_reads(home: Path, process: int) -> dict[str, Any]:
    """The answers to all of them; that to `process` is about this one."""
    arguments = {"process": process, "logs": "daemon", "repo": "r"}
    url = json.loads((home / "daemon.json").read_text())["url"]
    token = (home / "tokens" / "operator").read_text().strip()
    context = ssl.create_default_context(cafile=home / "ca.pem")
    bearing = {"authorization": f"Bearer {token}"}
    with httpx2.Client(base_url=url, verify=context, headers=bearing, timeout=PATIENCE_S) as client:
        asked = {}
        for action in ACTIONS:
            arg = {} if action.argument is None else {"arg": arguments.get(action.name, "none")}
            body = {"op": "box.exec", "args": {"action": action.name} | arg}
            asked[action.name] = client.post("/exec", json=body).json()
    return asked


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Hostile:
    folder = tmp_path_factory.mktemp("hostile")
    repository, home, marker, notes = folder / "r", folder / "state", folder / "sprung", folder / "notes"
    subprocess.run(["git", "init", "--quiet", repository], check=True)
    trap = trapped(folder, marker)
    words = [sys.executable, "-I", "-c", DAEMON, *map(str, (ROOT, home, notes, repository))]
    secret = ["bash", "-c", "exec -a 'sleep 600 --token=CANARY-ARG' sleep 600"]
    with (
        subprocess.Popen(secret) as secretive,
        subprocess.Popen(
            words, cwd=folder, env=environment(folder, trap), stderr=subprocess.DEVNULL
        ) as daemon,
    ):
        try:
            until((home / "daemon.json").exists)
            answers = all_reads(home, secretive.pid)
        finally:
            daemon.terminate()
            secretive.kill()
    return Hostile(marker, [json.loads(line) for line in notes.read_text().splitlines()], answers)


def test_each_read_was_asked_and_most_have_answered(hostile: Hostile) -> None:
    codes = {name: one["error"]["code"] for name, one in hostile.answers.items() if not one["ok"]}
    assert len(hostile.answers) == 27
    assert set(codes.values()) <= {"NOT_FOUND"}, codes


def test_the_reads_run_nothing_but_the_programs_that_are_pinned(hostile: Hostile) -> None:  # D010
    assert {event for event, *_ in hostile.started} <= {"subprocess.Popen"}
    programs = [Path(program) for _, program, *_ in hostile.started]
    assert {program.name for program in programs} <= PROGRAMS
    assert "git" in {program.name for program in programs}
    assert all(program.parent.parts[1] in ("usr", "bin", "sbin") for program in programs)
    assert {folder for *_, folder in hostile.started} == {"/"}


def test_nothing_that_lies_about_is_run_or_read_as_code(hostile: Hostile) -> None:  # D011, D013
    assert not hostile.marker.exists(), hostile.marker.read_text()


def test_no_answer_has_a_secret_of_another_process_or_of_the_daemon_itself(hostile: Hostile) -> None:  # D017
    assert "--token=[REDACTED]" in json.dumps(hostile.answers["process"])
    assert "CANARY" not in json.dumps(hostile.answers)
