"""Kill the daemon or the watcher at random instants while timers fire every second, then count.

    python -m tests.soak.timers --kills 200 --timers 20 --seed 1

Each timer is due every second; its agent answers each message with a verdict. Afterwards every second of
every timer must have run exactly once or stand in a row that says why it was skipped, every run must have one
job and one message, and every answer must have ended exactly the run that it answered.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from harvester.client import DaemonClient
from messaging import Call, CallRequest, digest
from tests.soak._parts import DAEMON, START_S, WATCHER, Parts, persist, wait_until

# From the start of a process to somewhere in its work: imports take about a second.
LONGEST_LIFE_S = 2.5
SETTLE_S = 300.0
SECOND = timedelta(seconds=1)
# What differs between the timers, in turn.
POLICIES: tuple[dict[str, Any], ...] = (
    {},
    {"overlap": "queue"},
    {"misfire": "run_once"},
    {"jitter_s": 1},
    {"context_mode": "isolated"},
)
UNANSWERED = """
SELECT message.id, message.thread, threads.agent FROM messages AS message
JOIN threads ON threads.id = message.thread
WHERE message.kind = 'envelope' AND message.author = 'timer' AND NOT EXISTS
    (SELECT 1 FROM messages WHERE author_kind = 'agent' AND in_reply_to = message.id)
ORDER BY message.position LIMIT 50
"""
RUNS = """
SELECT due, upto, slots, state, outcome, job, thread, message, reply
FROM timer_runs WHERE timer = ? ORDER BY due
"""
SENT = "kind = 'envelope' AND author = 'timer'"
ASKED = f"SELECT id FROM messages WHERE {SENT}"
COUNTED = {
    "messages": f"messages WHERE {SENT}",
    "answers": f"messages WHERE author_kind = 'agent' AND in_reply_to IN ({ASKED})",
    "runs": "timer_runs JOIN jobs ON jobs.id = timer_runs.job WHERE jobs.op = 'timer'",
    "jobs": "jobs WHERE op = 'timer'",
}


@dataclass(frozen=True, slots=True)
class Plan:
    """The seed decides victims, instants, and which messages an agent is slow to answer."""

    kills: int
    timers: int
    seed: int


@dataclass(slots=True)
class Outcome:
    """What was found at the end; `faults` is empty when all is well."""

    kills: Counter[str] = field(default_factory=Counter)
    rows: Counter[str] = field(default_factory=Counter)
    took_s: float = 0.0
    faults: list[str] = field(default_factory=list)


class Agents(threading.Thread):
    """Answers each message of a timer once, however often it has to be tried; some answers take a while."""

    def __init__(self, plan: Plan, parts: Parts) -> None:
        super().__init__(name="agents", daemon=True)
        self._parts = parts
        self._chance = random.Random(plan.seed)
        self._done = threading.Event()
        self.failure: Exception | None = None

    def stop(self) -> None:
        self._done.set()
        self.join()

    def run(self) -> None:
        try:
            while not self._done.wait(0.1):
                for message, thread, agent in self._parts.rows(UNANSWERED):
                    if self._chance.random() < 0.7:
                        self._answer(message, thread, agent)
        except Exception as failure:  # noqa: BLE001 - the main thread reports it
            self.failure = failure

    def _answer(self, message: str, thread: str, agent: str) -> None:
        body = f"Looked.\n\n[RESULT] PASS: about {message}"
        persist(
            self._parts,
            lambda client: client.post_message(
                thread, body, as_agent=agent, in_reply_to=message, key=f"answer {message}"
            ),
            SETTLE_S,
        )


def called(client: DaemonClient, op: str, **args: Any) -> Any:
    result = client.call(CallRequest(call=Call(op, args, digest(op, args))))
    assert result.error is None, result.error
    return result.data


def run(plan: Plan, home: Path, say: Callable[[str], None] = lambda _line: None) -> Outcome:
    """Play the plan in the empty directory `home`."""
    outcome, began = Outcome(), time.monotonic()
    with Parts(home) as parts:
        timers = made(plan, parts)
        agents = Agents(plan, parts)
        agents.start()
        chance = random.Random(plan.seed)
        for number in range(1, plan.kills + 1):
            live(chance, parts)
            victim = chance.choice((DAEMON, DAEMON, WATCHER))
            parts.kill(victim)
            time.sleep(chance.choice((0.0, 0.0, 1.5)))
            parts.start(victim)
            outcome.kills[victim] += 1
            if number % 20 == 0:
                say(f"{number} of {plan.kills} kills")
        settle(timers, parts, outcome)
        agents.stop()
        if agents.failure is not None:
            raise agents.failure
        for timer in timers:
            outcome.faults += wrong_runs(timer, parts, outcome)
        outcome.faults += wrong_answers(parts)
    outcome.took_s = time.monotonic() - began
    return outcome


def live(chance: random.Random, parts: Parts) -> None:
    """Until the next kill: any time of a start, or, more often, of a life in which something is done."""
    if chance.random() < 0.7:
        wait_until(parts.ready, START_S, "the daemon to be ready")
    time.sleep(chance.uniform(0.0, LONGEST_LIFE_S))


def made(plan: Plan, parts: Parts, policies: Sequence[dict[str, Any]] = POLICIES) -> list[str]:
    with parts.client() as client:
        for number in range(plan.timers):
            client.add_agent(f"heron{number}")
        return [
            called(
                client,
                "cron.create",
                schedule="1s",
                prompt="Look.",
                target=f"heron{number}",
                pause_after=0,
                **policies[number % len(policies)],
            )["id"]
            for number in range(plan.timers)
        ]


def settle(timers: list[str], parts: Parts, outcome: Outcome) -> None:
    """Nothing new, and what was sent is answered and told."""
    wait_until(parts.ready, START_S, "the daemon to be ready again")
    for timer in timers:
        persist(parts, partial(called, op="cron.pause", id=timer), SETTLE_S)
    open_runs = "SELECT count(*) FROM timer_runs WHERE state IN ('queued', 'open', 'blocked')"
    try:
        wait_until(lambda: parts.rows(open_runs)[0][0] == 0, SETTLE_S, "all runs to end")
    except AssertionError as stuck:
        outcome.faults.append(str(stuck))


def wrong_runs(timer: str, parts: Parts, outcome: Outcome) -> Iterator[str]:
    """Each second from the first to the last has one row; each row that was sent, one job and one message."""
    expected: datetime | None = None
    for due, upto, slots, state, what, job, thread, message, reply in parts.rows(RUNS, timer):
        first, last = (datetime.fromisoformat(at) for at in (due, upto or due))
        outcome.rows[what or state] += slots
        if expected is not None and first != expected:
            yield f"{timer}: after {expected - SECOND} comes {first}"
        if (last - first) // SECOND + 1 != slots:
            yield f"{timer}: {slots} times from {first} to {last}"
        expected = last + SECOND
        if what == "gate_failed":
            yield f"{timer}: the gate did not decide at {due}"
        if job is None:
            continue
        if (state, what) != ("ended", "PASS"):
            yield f"{timer}: the run of {due} is {state} with {what}"
        yield from _wrong_run(parts, timer, due, job, (thread, message, reply))


def _wrong_run(parts: Parts, timer: str, due: str, job: str, places: tuple[str, str, str]) -> Iterator[str]:
    thread, message, reply = places
    sent = parts.rows("SELECT id, thread FROM messages WHERE job_id = ? AND kind = 'envelope'", job)
    if sent != [(message, thread)]:
        yield f"{timer}: the run of {due} was sent as {sent}"
    ends = parts.rows(
        "SELECT count(*) FROM job_events JOIN jobs ON jobs.number = job_events.job "
        "WHERE jobs.id = ? AND type IN ('succeeded', 'failed')",
        job,
    )[0][0]
    if ends != 1:
        yield f"{timer}: the job of {due} has {ends} ends"
    answered = parts.rows("SELECT in_reply_to FROM messages WHERE id = ?", reply)
    if answered != [(message,)]:
        yield f"{timer}: the run of {due} was ended by an answer to {answered}"


def wrong_answers(parts: Parts) -> Iterator[str]:
    """Messages of timers and runs that were sent are as many as each other, and so are their answers."""
    counts = {name: parts.rows(f"SELECT count(*) FROM {what}")[0][0] for name, what in COUNTED.items()}
    if len(set(counts.values())) != 1:
        yield f"not as many of each: {counts}"


def main() -> int:
    """Exit code 0 when every time is accounted for."""
    wanted = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    wanted.add_argument("--kills", type=int, default=200)
    wanted.add_argument("--timers", type=int, default=20)
    wanted.add_argument("--seed", type=int, default=1)
    plan = Plan(**vars(wanted.parse_args()))
    with tempfile.TemporaryDirectory(prefix="timers-") as home:
        outcome = run(plan, Path(home), say=lambda line: print(line, flush=True))
    killed = ", ".join(f"{name} {count}" for name, count in sorted(outcome.kills.items()))
    print(f"killed: {killed}; {plan.timers} timers; {outcome.took_s:.0f} s")
    print(", ".join(f"{what}: {count}" for what, count in sorted(outcome.rows.items())))
    print("\n".join(outcome.faults) or "each time ran exactly once or was skipped by policy")
    return 1 if outcome.faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
