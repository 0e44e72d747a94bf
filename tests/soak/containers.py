"""Kill the host, the daemon or an agent's container at random instants while groups talk, then count.

    python -m tests.soak.containers --kills 60 --messages 40 --seed 1

Afterwards every file of an agent must have had its effect exactly once, every word to an agent must be in a
turn that ended, and of all processes none may be left.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self

from harvester.container.groups import Group
from harvester.container.layout import Layout
from harvester.container.ledger import Ledger
from inband.containers import add_group
from inband.settings import load
from messaging import MessageKind
from messaging.container import FileNames
from messaging.ipc import Folder
from tests.soak._parts import DAEMON, Parts, persist, wait_until

FOLDERS = ("main", "family", "work", "club")
SETTLE_S = 180.0
LONGEST_LIFE_S = 2.0
VICTIMS = ("host", "host", "container", "container", DAEMON)


@dataclass(slots=True)
class World:
    """Daemon, host and containers on one state directory."""

    parts: Parts
    chance: random.Random
    kills: Counter[str] = field(default_factory=Counter)
    host: subprocess.Popen[bytes] | None = None

    @property
    def layout(self) -> Layout:
        return Layout(self.parts.home / "data")

    def start_host(self) -> None:
        agent = [sys.executable, "-P", "-m", "inband_agent", f"--script={self.parts.home / 'script.json'}"]
        self.host = self.parts.container_host("--data", str(self.layout.data), *agent)

    def __enter__(self) -> Self:
        self.start_host()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self.host
        self.host.terminate()
        self.host.wait(60)
        with suppress(AssertionError):  # what is left is counted
            wait_until(lambda: not list(self.containers()), 10.0, "the containers to end")

    def containers(self) -> Iterator[int]:
        """The agents that run, by their command lines."""
        mark = os.fsencode(self.parts.home / "script.json")
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                words = (folder / "cmdline").read_bytes()
                if mark in words and b"inband_agent" in words and b"container\0serve" not in words:
                    yield int(folder.name)

    def kill(self) -> None:
        victim = self.chance.choice(VICTIMS)
        self.kills[victim] += 1
        if victim == DAEMON:
            self.parts.kill(DAEMON)
            self.parts.start(DAEMON)
        elif victim == "host" and self.host:
            self.host.kill()
            self.host.wait()
            self.start_host()
        else:
            for pid in list(self.containers())[:1]:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)


def say(world: World, number: int, names: FileNames) -> None:
    """A person says something to one group, and the agent of main writes a file for another."""
    group = FOLDERS[number % len(FOLDERS)]
    key = f"soak-{number}"
    persist(world.parts, lambda client: client.post_message(group, f"word-{number}.", key=key), SETTLE_S)
    with Folder.at(world.layout.ipc("main") / "messages") as folder:
        document = {"type": "message", "chatJid": "tg:family", "text": f"dm-{number}."}
        folder.write(names.next(), json.dumps(document).encode())


def faults(world: World, messages: int) -> Iterator[str]:
    """What is not as it must be."""
    with world.parts.client() as client:
        said = {name: client.messages(name, limit=500) for name in FOLDERS}
    sent = Counter(one.body for one in said["family"] if one.kind is MessageKind.DM)
    for number in range(messages):
        if sent[f"dm-{number}."] != 1:
            yield f"dm-{number} was delivered {sent[f'dm-{number}.']} times"
        group = FOLDERS[number % len(FOLDERS)]
        if not any(one.is_reply and f"word-{number}." in one.body for one in said[group]):
            yield f"word-{number} was never answered in {group}"
    with Ledger(world.parts.home / "state" / "container.db") as ledger:
        for folder in FOLDERS:
            yield from (
                f"{folder}: {name}: {outcome}"
                for name, outcome, _ in ledger.outcomes(folder)
                if outcome != "done"
            )
            yield from (f"{folder}: {one.name} was never answered" for one in ledger.unanswered(folder))
    yield from (f"process {pid} is left" for pid in world.containers())


def settled(world: World) -> bool:
    with Ledger(world.parts.home / "state" / "container.db") as ledger:
        waiting = any(ledger.unanswered(folder) for folder in FOLDERS)
    files = any(any((world.layout.ipc(folder) / "messages").glob("*.json")) for folder in FOLDERS)
    return not waiting and not files and all(_delivered(world, folder) for folder in FOLDERS)


def _delivered(world: World, folder: str) -> bool:
    with world.parts.client() as client, Ledger(world.parts.home / "state" / "container.db") as ledger:
        return ledger.position(f"out:{folder}") >= client.thread(folder).last_seq


def soak(home: Path, kills: int, messages: int, seed: int) -> tuple[Counter[str], list[str]]:
    """Kills spread over the messages; what died, and what is wrong afterwards."""
    chance = random.Random(seed)
    names = FileNames(
        lambda: time.time_ns() // 1_000_000, lambda digits: f"{chance.getrandbits(24):06x}"[:digits]
    )
    with Parts(home, watching=False) as parts:
        world = World(parts, chance)
        (home / "script.json").write_text('{"turns": []}')
        with parts.client() as client:
            for folder in FOLDERS:
                group = Group(jid=f"tg:{folder}", folder=folder, name=folder, is_main=folder == "main")
                add_group(load(parts.environment, {}), world.layout, group, client)
        with world:
            for number in range(messages):
                say(world, number, names)
                for _ in range(kills * (number + 1) // messages - kills * number // messages):
                    time.sleep(chance.uniform(0.0, LONGEST_LIFE_S))
                    world.kill()
            stuck = _settle(world)
        return world.kills, [*stuck, *faults(world, messages)]


def _settle(world: World) -> list[str]:
    try:
        wait_until(world.parts.ready, SETTLE_S, "the daemon")
        wait_until(lambda: settled(world), SETTLE_S, "everything to be answered")
    except AssertionError as stuck:
        return [str(stuck)]
    return []


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--messages", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="containers-") as folder:
        began = time.monotonic()
        kills, wrong = soak(Path(folder), asked.kills, asked.messages, asked.seed)
        took_s = time.monotonic() - began
        print(f"{kills.total()} kills {dict(kills)} in {took_s:.0f} s; {len(wrong)} faults")
        print("\n".join(wrong[:50]), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
