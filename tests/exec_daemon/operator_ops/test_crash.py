"""A daemon that is killed while an operator's program runs: the program ends, and is never run again."""

from __future__ import annotations

import getpass
import json
import os
import ssl
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx2

from tests.patience import until

ROOT = Path(__file__).resolve().parents[3]
# Found again by its argument, which is of no other run of the tests on this machine.
SLEEPS_S = str(70_000_000 + os.getpid())

DAEMON = """
import json, sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from exec_daemon import DaemonSettings, serve
from exec_daemon.operator_ops.spec import specs
from exec_daemon.programs.sandbox import Sandbox
folder, user = Path(sys.argv[2]), sys.argv[3]
ops = specs({"my.slow": {
    "argv": ["/bin/sh", "-c", "echo run >> runs; exec sleep " + sys.argv[4]],
    "summary": "Writes once, then waits.",
    "folder": str(folder), "writable": [str(folder)], "time_limit_s": 600,
}})
serve(DaemonSettings(home=folder.parent / "home", port=0, ops=ops, sandbox=Sandbox(user=user)))
"""


class Place:
    """A daemon of its own process, over one state directory."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.home = folder / "place", folder / "home"
        self.folder.mkdir()
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> httpx2.Client:
        words = [sys.executable, "-c", DAEMON, str(ROOT), str(self.folder), getpass.getuser(), SLEEPS_S]
        self.process = subprocess.Popen(words, stderr=subprocess.DEVNULL)
        address = self.home / "daemon.json"
        assert until(lambda: address.exists() and json.loads(address.read_bytes())["pid"] == self.pid)
        token = (self.home / "tokens" / "operator").read_text().strip()
        context = ssl.create_default_context(cafile=self.home / "ca.pem")
        url = json.loads(address.read_bytes())["url"]
        return httpx2.Client(base_url=url, verify=context, headers={"authorization": f"Bearer {token}"})

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()

    def runs(self) -> int:
        notes = self.folder / "runs"
        return len(notes.read_text().splitlines()) if notes.exists() else 0


def sleeps() -> bool:
    wanted = f"sleep\0{SLEEPS_S}\0".encode()
    return any(line == wanted for line in map(command_line, Path("/proc").iterdir()))


def command_line(folder: Path) -> bytes:
    try:
        return (folder / "cmdline").read_bytes() if folder.name.isdecimal() else b""
    except OSError:
        return b""


def test_a_crash_in_the_middle_is_interrupted_and_never_repeated(tmp_path: Path) -> None:  # D088 D141
    place = Place(tmp_path)
    call: dict[str, Any] = {"op": "my.slow", "args": {}, "call_id": "call-crash"}
    try:
        with place.start() as client:
            job = client.post("/exec", json=call, headers={"prefer": "respond-async"}).json()["job_id"]
            assert until(lambda: place.runs() == 1)
        place.kill()
        assert until(lambda: not sleeps())
        with place.start() as client:
            assert client.get(f"/jobs/{job}").json()["error"]["code"] == "INTERRUPTED"
            again = client.post("/exec", json=call).json()
            assert (again["error"]["code"], again["job_id"]) == ("INTERRUPTED", job)
        assert place.runs() == 1
    finally:
        place.kill()
