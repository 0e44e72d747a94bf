"""Kill the host of workers, the daemon or the watcher at random instants while workers work, then count.

    python -m tests.soak.workers --kills 30 --seed 1

Afterwards each worker that was spawned must have ended with its verdict, each of its turns must have one
reply, and of all processes none may be left.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from subprocess import Popen

import psutil

from harvester import DaemonClient
from harvester.errors import ClientError
from messaging import Call, CallRequest, JobState
from tests.inband.conftest import Box, stop
from tests.integration._worker_box import AGENT, TEMPLATES
from tests.soak._parts import wait_until

SETTLE_S = 120.0
_ASK = Call("swarm.spawn", {"prompt": "Is the disk full?", "agent": "coder"})


@dataclass(slots=True)
class World:
    """A `box up`, and who is killed when."""

    box: Box
    up: Popen[bytes]
    chance: random.Random
    kills: int = 0

    def client(self) -> DaemonClient:
        """Whatever daemon runs now."""
        url = json.loads((self.box.home / "daemon.json").read_text())["url"]
        token = (self.box.home / "tokens" / "operator").read_text().strip()
        return DaemonClient(url, token, self.box.home / "ca.pem")

    def spawn(self) -> str | None:
        """The id of a worker; None where nobody could say that there is one."""
        with suppress(ClientError, OSError, ValueError), self.client() as client:
            result = client.call(CallRequest(call=_ASK))
            return str(result.data["workers"][0]["id"]) if result.ok else None
        return None

    def kill_one(self) -> None:
        """As an out-of-memory killer does; the supervisor starts another."""
        parts = psutil.Process(self.up.pid).children()
        with suppress(psutil.Error, IndexError):
            self.chance.choice(parts).send_signal(signal.SIGKILL)
            self.kills += 1

    def settled(self) -> bool:
        """Is nobody at work any more?"""
        with suppress(ClientError, OSError, ValueError), self.client() as client:
            return not client.workers().workers
        return False

    def faults(self, workers: list[str]) -> list[str]:
        """What is not as it has to be."""
        with self.client() as client:
            return [fault for worker in workers if (fault := _fault(client, worker))]

    def left(self) -> list[str]:
        """Processes of workers that nobody ended."""
        mark, found = f"INBAND_HOME={self.box.home}".encode(), []
        for file in Path("/proc").glob("[0-9]*/environ"):
            with suppress(OSError):
                found += [f"{file} is left"] if mark in file.read_bytes().split(b"\0") else []
        return found


def _fault(client: DaemonClient, worker: str) -> str | None:
    row, replies = client.worker(worker), [one for one in client.messages(worker) if one.author == worker]
    job = client.job(row["job"])
    if row["state"] != "ended" or job.state is not JobState.SUCCEEDED:
        return f"{worker}: {row['state']} ({row['reason']}), its job {job.state}: {job.error}"
    once = len(replies) == len({one.in_reply_to for one in replies})
    return None if once else f"{worker}: a turn has two replies"


def soak(folder: Path, kills: int, seed: int) -> tuple[int, list[str]]:
    """How many workers there were, and what is wrong."""
    (folder / "work").mkdir()
    (folder / "agent.py").write_text(AGENT)
    config = TEMPLATES.format(python=sys.executable, agent=folder / "agent.py", work=folder / "work")
    (folder / "box.toml").write_text(config)
    box = Box(folder / "state", {"BOX_CONFIG": str(folder / "box.toml"), "TMUX_TMPDIR": str(folder)})
    world, workers = World(box, box.start(), random.Random(seed)), list[str]()
    try:
        while world.kills < kills:
            workers += [made] if (made := world.spawn()) else []
            time.sleep(world.chance.uniform(0.1, 0.8))
            if world.chance.random() < 0.35:
                world.kill_one()
        wait_until(world.settled, SETTLE_S, "the workers")
        wrong = world.faults(workers)
    except AssertionError as stuck:
        wrong = [str(stuck)]
    finally:
        stop(world.up)
    return len(workers), [*wrong, *world.left()]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="workers-") as folder:
        began = time.monotonic()
        workers, wrong = soak(Path(folder), asked.kills, asked.seed)
        print(
            f"{workers} workers, {asked.kills} kills in {time.monotonic() - began:.0f} s; {len(wrong)} faults"
        )
        print("\n".join(wrong[:50]), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
