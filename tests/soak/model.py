"""A real model in the loop: timers wake agents whose words a base model writes; after so many turns, count.

    python -m tests.soak.model --turns 100

Daemon, `box container serve` and `inband-agent` are the product's own; the model is Gemma 3 270M, which knows
nothing of us but some examples to go on from, so it writes what a weak model writes. Afterwards everything
must be accounted for: what the model said is recorded once, each run of a timer has its message and ended by
a verdict or as MISSING, each directive has a result or a typed error, and nothing waits.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from harvester.client import DaemonClient
from harvester.container.groups import Group
from harvester.container.layout import Layout
from harvester.container.ledger import Ledger
from inband.compose import scan_policy
from inband.containers import add_group
from inband.settings import load
from tests.soak._model import Endpoint, NoModelError, installed
from tests.soak._model_accounts import Accounts, Record
from tests.soak._parts import ROOT, Parts, wait_until
from tests.soak.timers import called

AGENTS: Final = ("heron", "wren")
# Each agent has both timers: one in its own thread, one in a new thread for each run.
TASKS: Final = {
    "heron": (("How full is the disk?", "group"), ("Is anything failing on this machine?", "isolated")),
    "wren": (("Tell heron how much memory is free.", "group"), ("Which timers are there?", "isolated")),
}
# A turn takes some seconds on a processor that others use too.
EVERY: Final = "30s"
NUDGE_S, DEADLINE_S = 60, 180
TURN_S: Final = 600.0
SETTLE_S: Final = 600.0
LLM: Final = {
    "token": "of-no-use",
    "model": "base",
    "maxOutputTokens": 96,
    "temperature": 0.5,
    # Five containers may wait for the one model, on a processor that others use too.
    "requestTimeoutSecs": 600,
}
# So much of the conversation goes with each turn: an envelope and what came last.
CONTEXT_TOKENS: Final = 1000


@dataclass(slots=True)
class World:
    """Daemon, host and endpoint on one state directory."""

    parts: Parts
    endpoint: Endpoint
    host: subprocess.Popen[bytes] | None = None

    @property
    def layout(self) -> Layout:
        return Layout(self.parts.home / "data")

    def __enter__(self) -> Self:
        llm = self.parts.home / "llm.json"
        llm.write_text(json.dumps({**LLM, "baseUrl": self.endpoint.url, "maxContextTokens": CONTEXT_TOKENS}))
        agent = [sys.executable, "-P", "-m", "inband_agent"]
        self.host = self.parts.container_host("--data", str(self.layout.data), "--llm", str(llm), *agent)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self.host
        self.host.terminate()
        self.host.wait(60)

    def register(self) -> None:
        """The agents and their timers."""
        with self.parts.client() as client:
            for name in AGENTS:
                group = Group(jid=f"tg:{name}", folder=name, name=name, is_main=False)
                add_group(load(self.parts.environment, {}), self.layout, group, client)
            for name, tasks in TASKS.items():
                for prompt, context in tasks:
                    self._timer(client, name, prompt, context)

    def _timer(self, client: DaemonClient, agent: str, prompt: str, context: str) -> None:
        args = {
            "schedule": EVERY,
            "prompt": prompt,
            "target": agent,
            "context_mode": context,
            "pause_after": 0,
            "nudge_s": NUDGE_S,
            "deadline_s": DEADLINE_S,
        }
        called(client, "cron.create", **args)

    def pause(self) -> None:
        """Of all timers, those too that the model has made; nothing new from here on."""
        with self.parts.client() as client:
            for (timer,) in self.parts.rows("SELECT id FROM timers WHERE state = 'active'"):
                called(client, "cron.pause", id=timer)

    def be_the_person(self) -> int:
        """What waits for a person after a BLOCKED is cancelled by one; how many there were."""
        rows = self.parts.rows("SELECT job FROM timer_runs WHERE state = 'blocked'")
        with self.parts.client() as client:
            for (job,) in rows:
                client.cancel(job)
        return len(rows)

    def another_turn(self) -> None:
        """Wait for it; AssertionError when none comes."""
        before = len(self.endpoint.answers)
        wait_until(lambda: len(self.endpoint.answers) > before, TURN_S, "another turn of the model")

    def quiet(self) -> bool:
        """Is nothing under way: no run, no follow-up, no reply that nobody has read?"""
        under_way = "SELECT count(*) FROM timer_runs WHERE state IN ('queued', 'open', 'blocked')"
        newest = (
            "SELECT coalesce(max(position), 0) FROM messages WHERE author_kind = 'agent' AND kind = 'text'"
        )
        read = "SELECT coalesce(max(position), 0) FROM cursors WHERE name = 'containers'"
        if self.parts.rows(under_way) != [(0,)] or self.parts.rows(newest) > self.parts.rows(read):
            return False
        with Ledger(self.parts.home / "state" / "container.db") as ledger:
            waits = any(ledger.unanswered(lane) for lane in self.layout.lanes())
            threads = self.parts.rows("SELECT thread, max(seq) FROM messages GROUP BY thread")
            told = all(ledger.position(f"out:{thread}") >= last for thread, last in threads)
        return told and not waits


def play(world: World, turns: int, say: Callable[[str], None]) -> list[str]:
    """Let the timers go until there were so many turns, then let everything end; what is stuck."""
    world.register()
    said = 0
    while len(world.endpoint.answers) < turns:
        try:
            world.another_turn()
        except AssertionError as stuck:
            return [str(stuck)]
        world.be_the_person()
        if (done := len(world.endpoint.answers) // 10) > said:
            said = done
            say(f"{len(world.endpoint.answers)} turns")
    world.pause()
    return _settled(world)


def _settled(world: World) -> list[str]:
    end = time.monotonic() + SETTLE_S
    while time.monotonic() < end:
        world.be_the_person()
        if world.quiet():
            time.sleep(2.0)  # the host looks once a second for what is new
            if world.quiet():
                return []
        time.sleep(0.5)
    return [f"after {SETTLE_S:.0f} s something is still under way"]


def soak(home: Path, turns: int, say: Callable[[str], None]) -> Accounts:
    """Play it in the directory `home` and count. Raises `NoModelError`."""
    model = installed(ROOT / ".box" / "model", say)
    examples = Path(__file__).with_name("_model_examples.txt")
    with ExitStack() as stack:
        endpoint = stack.enter_context(Endpoint(model, examples, home / "endpoint.log"))
        parts = stack.enter_context(Parts(home, watching=False))
        world = stack.enter_context(World(parts, endpoint))
        stuck = play(world, turns, say)
        with parts.client() as client:
            record = Record.of(parts, client, scan_policy(load(parts.environment, {})))
        with Ledger(home / "state" / "container.db") as ledger:
            waiting = [one.name for lane in world.layout.lanes() for one in ledger.unanswered(lane)]
        return Accounts.of(
            record, endpoint.answers, [*stuck, *(f"{name} was never answered" for name in waiting)]
        )


def main() -> int:
    """Exit code 0 when everything is accounted for, 2 when there is no model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--turns", type=int, default=100)
    parser.add_argument("--home", type=Path, help="an empty folder to play in, kept afterwards")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="model-") as folder:
        home, began = asked.home or Path(folder), time.monotonic()
        home.mkdir(parents=True, exist_ok=True)
        try:
            accounts = soak(home, asked.turns, lambda line: print(line, flush=True))
        except NoModelError as none:
            print(f"no model: {none}", file=sys.stderr)
            return 2
    print("\n".join(accounts.table(time.monotonic() - began)))
    print("\n".join(accounts.faults[:50]) or "nothing is stuck, everything is accounted for")
    return 1 if accounts.faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
