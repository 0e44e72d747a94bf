"""Everything at once, and whatever runs is killed at random instants; then count.

    python -m tests.soak.day --kills 200 --timers 20 --workers 10 --seed 1

Timers are due every second, some behind a gate, workers are spawned, told one thing after the other and
finished, a group in a container is talked to. `kill -9` strikes the daemon, the watcher, the hosts of workers
and of containers, and the processes of both. Afterwards each second of each timer must have run exactly once
or stand in a row that says why it was skipped; each word to a worker that was not killed itself and to the
group must have been answered; and while it ran nothing may have been a zombie, nor be left when all is over.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import random
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from harvester.container.groups import Group
from harvester.container.ledger import Ledger
from inband.containers import add_group
from inband.settings import load
from tests.soak import _crew, timers
from tests.soak._crew import Crew
from tests.soak._parts import DAEMON, START_S, WATCHER, WORKERS, Parts, persist, wait_until
from tests.soak.containers import World

GROUP = "family"
A_WORKER, CONTAINERS, A_CONTAINER = "one worker", "containers", "one container"
POLICIES = (*timers.POLICIES, {"script": "open"})
# How often each is struck, and how it is done.
WEIGHTS = {DAEMON: 6, WATCHER: 4, WORKERS: 4, A_WORKER: 4, CONTAINERS: 1, A_CONTAINER: 1}
SETTLE_S = 300.0
SHOWN_LINES = 30
# A word to the group after so many kills: each may cost a retry after five seconds.
TALK_EVERY = 3
_PR_SET_CHILD_SUBREAPER = 36


@dataclass(slots=True)
class Day:
    """What runs, and who dies next."""

    parts: Parts
    crew: Crew
    world: World
    chance: random.Random
    outcome: timers.Outcome = field(default_factory=timers.Outcome)
    words: list[str] = field(default_factory=list)

    def kill(self) -> None:
        victim = self.chance.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
        if victim == A_WORKER:
            victim = victim if self._kill_worker() else WORKERS
        elif victim == A_CONTAINER:
            victim = victim if _kill_first(self.world.containers()) else CONTAINERS
        if victim in (DAEMON, WATCHER, WORKERS):
            self.parts.kill(victim)
            time.sleep(self.chance.choice((0.0, 0.0, 1.5)))
            self.parts.start(victim)
        elif victim == CONTAINERS and self.world.host:
            self.world.host.kill()
            self.world.host.wait()
            self.world.start_host()
        self.outcome.kills[victim] += 1

    def _kill_worker(self) -> bool:
        running = list(_workers(self.parts.home))
        if not running:
            return False
        worker, pid = self.chance.choice(running)
        self.crew.killed(worker)
        return _kill_first(iter([pid]))

    def talk(self) -> None:
        """A person says a word to the group."""
        word = f"word-{len(self.words)}."
        self.words.append(word)
        persist(self.parts, lambda client: client.post_message(GROUP, word, key=word), SETTLE_S)

    def faults(self, made: list[str]) -> Iterator[str]:
        for timer in made:
            yield from timers.wrong_runs(timer, self.parts, self.outcome)
        yield from timers.wrong_answers(self.parts)
        yield from _crew.faults(self.crew)
        with self.parts.client() as client:
            said = [one.body for one in client.messages(GROUP, limit=500) if one.is_reply]
        yield from (
            f"{word} was never answered in {GROUP}"
            for word in self.words
            if not any(word in one for one in said)
        )


def _kill_first(pids: Iterator[int]) -> bool:
    """False where there is none, or it has just ended by itself."""
    with suppress(ProcessLookupError):
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
            return True
    return False


def _workers(home: Path) -> Iterator[tuple[str, int]]:
    """Processes of workers, by the mark in their environment."""
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            rows = (folder / "environ").read_bytes().split(b"\0")
            if f"INBAND_HOME={home / 'state'}".encode() in rows:
                marks = [row.partition(b"=")[2].decode() for row in rows if row.startswith(b"INBAND_WORKER=")]
                yield from ((worker, int(folder.name)) for worker in marks)


def zombies(day: Day) -> list[str]:
    """Children of our parts that ended, and that nobody has asked for in a second."""
    parts = [day.parts.pid(name) for name in (DAEMON, WATCHER, WORKERS)]
    hosts = [day.world.host.pid] if day.world.host else []

    def now() -> set[int]:
        below = (one for pid in parts + hosts for one in psutil.Process(pid).children(recursive=True))
        return {one.pid for one in below if one.is_running() and one.status() == psutil.STATUS_ZOMBIE}

    with suppress(psutil.Error):
        first = now()
        time.sleep(1.0)
        return [f"process {pid} is a zombie" for pid in first & now()]
    return []


def survivors(home: Path) -> list[str]:
    """Processes that belong to the run and live: by its folder, or since they have become our children."""
    mark, found = os.fsencode(home), set()
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (folder / "cmdline").read_bytes() + (folder / "environ").read_bytes()
            if mark in words and int(folder.name) != os.getpid():
                found.add(int(folder.name))
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if child.status() != psutil.STATUS_ZOMBIE:
                found.add(child.pid)
    return [f"process {pid} is left: {_argv(pid)}" for pid in found]


def _argv(pid: int) -> str:
    with suppress(psutil.Error):
        return " ".join(psutil.Process(pid).cmdline())
    return "?"


def run(plan: timers.Plan, workers: int, home: Path, say: Callable[[str], None]) -> timers.Outcome:
    """Play the plan in the empty directory `home`."""
    # Whatever loses its parent becomes our child, and is seen.
    ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    began, chance = time.monotonic(), random.Random(plan.seed)
    (home / "inband").mkdir()
    (home / "inband" / "box.toml").write_text(_crew.template(home))
    (home / "script.json").write_text('{"turns": []}')
    with Parts(home) as parts:
        parts.start(WORKERS)
        world, crew = World(parts, chance), Crew(parts, workers, random.Random(plan.seed))
        day = Day(parts, crew, world, chance)
        with parts.client() as client:
            group = Group(jid="tg:1", folder=GROUP, name=GROUP)
            add_group(load(parts.environment, {}), world.layout, group, client)
        made, agents = timers.made(plan, parts, POLICIES), timers.Agents(plan, parts)
        agents.start()
        crew.start()
        with world:
            _told_why(day, lambda: _strike(day, plan.kills, say))
            _told_why(day, lambda: _settle(day, made))
            agents.stop()
            for failure in (agents.failure, crew.failure):
                if failure is not None:
                    raise failure
            day.outcome.faults += [*zombies(day), *day.faults(made)]
    day.outcome.faults += _ended(home)
    day.outcome.took_s = time.monotonic() - began
    return day.outcome


def _strike(day: Day, kills: int, say: Callable[[str], None]) -> None:
    for number in range(1, kills + 1):
        timers.live(day.chance, day.parts)
        if number % TALK_EVERY == 0:
            day.talk()
        if number % 20 == 0:
            day.outcome.faults += zombies(day)
            say(f"{number} of {kills} kills, {len(day.crew.mates)} workers so far")
        day.kill()


def _told_why(day: Day, play: Callable[[], None]) -> None:
    """What gets stuck is a fault, with the last that the daemon has said."""
    try:
        play()
    except AssertionError as stuck:
        said = "\n  ".join(day.parts.log(DAEMON).splitlines()[-SHOWN_LINES:])
        day.outcome.faults.append(f"{stuck}; the daemon says\n  {said}")


def _settle(day: Day, made: list[str]) -> None:
    """Nothing new, and everybody gets to the end."""
    wait_until(day.parts.ready, START_S, "the daemon to be ready")
    day.crew.stop()
    wait_until(lambda: not _crew.at_work(day.parts), SETTLE_S, "the workers to finish")
    timers.settle(made, day.parts, day.outcome)
    with Ledger(day.parts.home / "state" / "container.db") as ledger:
        wait_until(lambda: _is_told(day, ledger), SETTLE_S, "the group to answer")


def _is_told(day: Day, ledger: Ledger) -> bool:
    last = day.parts.rows("SELECT max(seq) FROM messages WHERE thread = ?", GROUP)[0][0] or 0
    return ledger.position(f"out:{GROUP}") >= last and not ledger.unanswered(GROUP)


def _ended(home: Path) -> list[str]:
    """All parts were killed by now: what they had started ends by itself."""
    with suppress(AssertionError):
        wait_until(lambda: not survivors(home), 15.0, "everything to end")
    return survivors(home)


def main() -> int:
    """Exit code 0 when everything is accounted for."""
    wanted = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    for name, default in {"kills": 200, "timers": 20, "workers": 10, "seed": 1}.items():
        wanted.add_argument(f"--{name}", type=int, default=default)
    asked = wanted.parse_args()
    plan = timers.Plan(kills=asked.kills, timers=asked.timers, seed=asked.seed)
    with tempfile.TemporaryDirectory(prefix="day-", ignore_cleanup_errors=True) as home:
        outcome = run(plan, asked.workers, Path(home), say=lambda line: print(line, flush=True))
    killed = ", ".join(f"{name} {count}" for name, count in sorted(outcome.kills.items()))
    print(f"killed: {killed}; {outcome.took_s:.0f} s")
    print(", ".join(f"{what}: {count}" for what, count in sorted(outcome.rows.items())))
    print("\n".join(outcome.faults[:50]) or "everything is accounted for")
    return 1 if outcome.faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
