"""Kill the daemon or the watcher at random instants while replies are harvested, then count.

    python -m tests.soak.kill --kills 200 --replies 50 --seed 1

Afterwards every message must have been delivered exactly once, every reply answered exactly once, no job
may still run, and the watcher's cursor must stand behind the last reply.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from harvester.client import DaemonClient
from messaging import Message, MessageKind
from tests.soak._parts import DAEMON, START_S, WATCHER, Parts, persist, wait_until

RECIPIENT = "ada"
# Under the bound on rounds, with room.
REPLIES_A_THREAD = 5
# From the start of a process to somewhere in its work: imports take about a second.
LONGEST_LIFE_S = 2.0
# Harvesting a reply takes some tens of milliseconds.
SOON_S = 0.06
SETTLE_S = 120.0
UNANSWERED = """
SELECT count(*) FROM messages AS reply WHERE author_kind = 'agent' AND kind = 'text' AND NOT EXISTS
    (SELECT 1 FROM messages WHERE kind = 'directive_result' AND in_reply_to = reply.id)
"""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is written and how often something dies. The seed decides texts, victims and instants."""

    kills: int
    replies: int
    seed: int

    @property
    def agents(self) -> list[str]:
        """Who writes; each in a thread of its own."""
        return [f"heron{number}" for number in range(-(-self.replies // REPLIES_A_THREAD))]

    def texts(self, number: int) -> list[str]:
        """The messages that reply `number` sends."""
        return [f"reply {number}, message {part}" for part in range(1 + (number + self.seed) % 6)]

    def body(self, number: int) -> str:
        """Reply `number`: some prose, a look, and its messages."""
        sends = [f'[TOOL dm.send {{"to": "{RECIPIENT}", "text": "{text}"}}]' for text in self.texts(number)]
        return "\n\n".join([f"Step {number}.", "[TOOL tools.list]", *sends])


@dataclass(slots=True)
class Outcome:
    """What was found at the end; `faults` is empty when all is well.

    `under_way` counts the kills at whose instant a reply was recorded and not answered yet.
    """

    kills: Counter[str] = field(default_factory=Counter)
    under_way: int = 0
    delivered: int = 0
    answered: int = 0
    took_s: float = 0.0
    faults: list[str] = field(default_factory=list)


class Writer(threading.Thread):
    """Posts the replies, spread over the kills."""

    def __init__(self, plan: Plan, parts: Parts) -> None:
        super().__init__(name="writer")
        self._plan = plan
        self._parts = parts
        self._may_write = threading.Semaphore(0)
        self.failure: Exception | None = None

    def release(self, kills_done: int) -> None:
        """Let as many replies go as belong before this kill."""
        plan = self._plan
        before, now = (kills * plan.replies // plan.kills for kills in (kills_done - 1, kills_done))
        for _ in range(now - before):
            self._may_write.release()

    def run(self) -> None:
        """Each reply is written once, however often it has to be tried."""
        try:
            for number in range(self._plan.replies):
                self._may_write.acquire()
                self._write(number)
        except Exception as failure:  # noqa: BLE001 - the main thread reports it
            self.failure = failure

    def _write(self, number: int) -> None:
        agent = self._plan.agents[number % len(self._plan.agents)]
        body, key = self._plan.body(number), f"soak:{number}"
        persist(
            self._parts, lambda client: client.post_message(agent, body, as_agent=agent, key=key), SETTLE_S
        )


def run(plan: Plan, home: Path, say: Callable[[str], None] = lambda _line: None) -> Outcome:
    """Play the plan in the empty directory `home`."""
    outcome, began = Outcome(), time.monotonic()
    with Parts(home) as parts:
        with parts.client() as client:
            for agent in (RECIPIENT, *plan.agents):
                client.add_agent(agent)
        writer = Writer(plan, parts)
        writer.start()
        chance = random.Random(plan.seed)
        for number in range(1, plan.kills + 1):
            writer.release(number)
            _live(chance, parts)
            victim = chance.choice((DAEMON, WATCHER))
            parts.kill(victim)
            outcome.under_way += _under_way(parts)
            parts.start(victim)
            outcome.kills[victim] += 1
            if number % 20 == 0:
                say(f"{number} of {plan.kills} kills")
        writer.join()
        if writer.failure is not None:
            raise writer.failure
        _count(plan, parts, outcome)
    outcome.took_s = time.monotonic() - began
    return outcome


def _live(chance: random.Random, parts: Parts) -> None:
    """Until the next kill: any time of a life, or, every second time, soon after a reply has arrived."""
    life_s, soon_s = chance.uniform(0.0, LONGEST_LIFE_S), chance.uniform(0.0, SOON_S)
    if chance.random() < 0.5:
        time.sleep(life_s)
        return
    end = time.monotonic() + LONGEST_LIFE_S
    while not _under_way(parts) and time.monotonic() < end:
        time.sleep(0.002)
    time.sleep(soon_s)


def _under_way(parts: Parts) -> bool:
    return bool(parts.rows(UNANSWERED)[0][0])


def _count(plan: Plan, parts: Parts, outcome: Outcome) -> None:
    """Wait until all is answered, then look for anything that is there twice, or not at all."""
    wait_until(parts.ready, START_S, "the daemon to be ready again")
    with parts.client() as client, parts.client("harvester") as harvester:
        try:
            wait_until(lambda: _unanswered(plan, client) == 0, SETTLE_S, "all replies to be answered")
            last = max(one.position for one in _replies(plan, client))
            wait_until(lambda: harvester.cursor("watcher") >= last, SETTLE_S, "the cursor to arrive")
        except AssertionError as stuck:
            outcome.faults.append(str(stuck))
        outcome.faults += _wrong_deliveries(plan, client, outcome)
        outcome.faults += _wrong_answers(plan, client, outcome)
        outcome.faults += [f"job {job.id} of {job.op} still runs" for job in client.jobs("running")]


def _thread(client: DaemonClient, thread: str) -> list[Message]:
    found: list[Message] = []
    while page := client.messages(thread, after=found[-1].seq if found else 0):
        found += page
    return found


def _replies(plan: Plan, client: DaemonClient) -> list[Message]:
    return [one for agent in plan.agents for one in _thread(client, agent) if one.is_reply]


def _answers(plan: Plan, client: DaemonClient) -> Counter[str | None]:
    threads = [_thread(client, agent) for agent in plan.agents]
    return Counter(one.in_reply_to for found in threads for one in found if one.kind is MessageKind.RESULT)


def _unanswered(plan: Plan, client: DaemonClient) -> int:
    return plan.replies - len(_answers(plan, client))


def _wrong_deliveries(plan: Plan, client: DaemonClient, outcome: Outcome) -> list[str]:
    wanted = [text for number in range(plan.replies) for text in plan.texts(number)]
    found = Counter(one.body for one in _thread(client, RECIPIENT) if one.kind is MessageKind.DM)
    outcome.delivered = found.total()
    stray = [f"{text!r} was never sent" for text in found if text not in wanted]
    return stray + [f"{text!r} arrived {found[text]} times" for text in wanted if found[text] != 1]


def _wrong_answers(plan: Plan, client: DaemonClient, outcome: Outcome) -> list[str]:
    replies, answers = _replies(plan, client), _answers(plan, client)
    outcome.answered = len(answers)
    faults = [f"{len(replies)} of {plan.replies} replies are recorded"] * (len(replies) != plan.replies)
    faults += [f"reply {one.id} has {answers[one.id]} answers" for one in replies if answers[one.id] != 1]
    for agent in plan.agents:
        for one in _thread(client, agent):
            if one.kind is MessageKind.RESULT and "failed" in one.body:
                faults.append(f"answer {one.id} tells of a failed call")
    return faults


def main() -> int:
    """Exit code 0 when nothing was lost, doubled or stuck."""
    wanted = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    wanted.add_argument("--kills", type=int, default=200)
    wanted.add_argument("--replies", type=int, default=50)
    wanted.add_argument("--seed", type=int, default=1)
    plan = Plan(**vars(wanted.parse_args()))
    with tempfile.TemporaryDirectory(prefix="kill-") as home:
        outcome = run(plan, Path(home), say=lambda line: print(line, flush=True))
        killed = ", ".join(f"{name} {count}" for name, count in sorted(outcome.kills.items()))
        print(f"killed: {killed}; {outcome.under_way} of them with a reply under way; {outcome.took_s:.0f} s")
        print(
            f"{outcome.answered} of {plan.replies} replies answered, {outcome.delivered} messages delivered"
        )
        print("\n".join(outcome.faults) or "each exactly once, nothing stuck")
    return 1 if outcome.faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
