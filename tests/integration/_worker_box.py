"""A `box up` with templates of workers and a tmux server of its own."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from harvester import DaemonClient
from messaging import Call, CallRequest, Message
from tests.inband.conftest import Box
from tests.patience import until

AGENT = """
import os, subprocess, sys, time
told = sys.stdin.read()
task = told.rpartition("```text task")[2]
if "hang" in task:
    subprocess.Popen(["sleep", "600"])
    open("began", "a").write("x")
    time.sleep(600)
elif "deaf" in task:
    import signal
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    open("began", "a").write("x")
    time.sleep(600)
elif "broken" in task:
    sys.exit("no model there")
elif "mute" in task:
    pass
elif "#1 box.exec disk" in told:
    print("It is fine.\\n\\n[RESULT] PASS: the disk is fine")
elif "disk" in task:
    print('[TOOL box.exec {"action": "disk"}]')
else:
    print("I heard:", told.strip().splitlines()[-1], "in", os.path.basename(os.getcwd()))
"""
# For the inside of a container: one prompt in, one frame out.
WALLED = """
import json, sys, time
told = json.load(sys.stdin)["prompt"]
if "hang" in told.rpartition("```text task")[2]:
    open("began", "a").write("x")
    time.sleep(600)
seen = "#1 box.exec disk" in told
said = "[RESULT] PASS: the disk is fine" if seen else '[TOOL box.exec {"action": "disk"}]'
print("---TALON_OUTPUT_START---")
print(json.dumps({"status": "success", "result": said, "newSessionId": "s-1", "usage": {"input_tokens": 3}}))
print("---TALON_OUTPUT_END---")
"""
TEMPLATES = """
[swarm]
most_alive = 100
most_per_hour = 1000
[workers.coder]
argv = ["{python}", "{agent}"]
folder = "{work}"
heartbeat_s = 1
term_s = 1
most = 100
[workers.rude]
argv = ["sh", "-c", "echo hello; sleep 60"]
adapter = "envelope"
[workers.shell]
argv = ["cat"]
runtime = "tmux"
heartbeat_s = 1
[workers.quits]
argv = ["sh", "-c", "read line; exit 3"]
runtime = "tmux"
[workers.walled]
argv = ["python3", "/workspace/group/walled.py"]
runtime = "container"
folder = "{work}"
term_s = 1
[workers.greedy]
argv = ["true"]
runtime = "container"
mounts = [{{path = "{work}"}}]
"""


def _is_host(process: psutil.Process) -> bool:
    """False for one that ends, or has ended, while it is looked at."""
    try:
        return "workers" in process.cmdline()
    except psutil.Error:
        return False


@dataclass
class WorkerBox:
    """The running box, and an operator's client."""

    box: Box
    up: subprocess.Popen[bytes]
    client: DaemonClient
    work: Path
    tmux_folder: Path

    def call(self, op: str, **args: Any) -> Any:
        result = self.client.call(CallRequest(call=Call(op, args)))
        assert result.ok, result
        return result.data

    def spawn(self, prompt: str, agent: str = "coder", **more: Any) -> str:
        return str(self.call("swarm.spawn", prompt=prompt, agent=agent, **more)["workers"][0]["id"])

    def messages(self, worker: str) -> list[Message]:
        return self.client.messages(worker)

    def tmux(self, *words: str) -> str:
        environment = dict(os.environ) | {"TMUX_TMPDIR": str(self.tmux_folder)}
        return subprocess.run(
            ["tmux", *words], env=environment, capture_output=True, text=True, check=False
        ).stdout

    def until(self, true: Callable[[], Any], what: str) -> Any:
        return until(true, lambda: what)

    def state(self, worker: str, *states: str) -> dict[str, Any]:
        """The worker, once it is in one of the states."""

        def there() -> dict[str, Any] | None:
            found = self.client.worker(worker)
            return found if found["state"] in states else None

        found: dict[str, Any] = self.until(there, f"{worker} never was {states}")
        return found

    def host(self) -> psutil.Process | None:
        return next((one for one in psutil.Process(self.up.pid).children() if _is_host(one)), None)

    def kill_host(self) -> None:
        """As an out-of-memory killer does; the supervisor starts another."""
        host = self.until(self.host, "no host runs")
        host.send_signal(signal.SIGKILL)
        self.until(lambda: (one := self.host()) is not None and one.pid != host.pid, "no other host came")

    def processes(self, worker: str) -> list[int]:
        """Whatever has the worker's mark, zombies too."""
        mark = f"INBAND_WORKER={worker}".encode()
        found = []
        for process in psutil.process_iter():
            try:
                if mark in Path(f"/proc/{process.pid}/environ").read_bytes().split(b"\0"):
                    found.append(process.pid)
            except OSError:
                continue
        return found
