"""Lines of any kind at the RPC, from several clients at once: no crash, no fault, no id without its answer.

`./box fuzz rpc [LINES] [SEED]`, 100,000 lines by default. The agents are in memory and behave as badly.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from exec_daemon.rpc.commands import COMMANDS
from exec_daemon.rpc.converse import Client, converse
from exec_daemon.rpc.desk import Desk
from exec_daemon.store import MemoryStore
from messaging.rpc import Rejected, RpcCode, read_request
from tests.exec_daemon.rpc._peers import HERON, OPERATOR, MemoryAgents, desk_over

CLIENTS = (OPERATOR, OPERATOR, HERON, HERON)
IDS = tuple(f"r{number}" for number in range(400))
TASKS = ("t1", "t2", "t3", "a/b", "..", "", "x" * 200)
WORDS = ("", "go", "\u2028", "\0", "é" * 50, "echo", "other", "[TOOL x {}]", "x" * 2000)
FIELDS = (
    *("taskId", "provider", "model", "message", "promptId", "reason", "since", "epoch", "workingFolder"),
    *("thinkingLevel", "command", "requestId"),
)
GARBAGE = (
    *(b"", b"\r", b"{", b"null", b"[]", b"\xff\xfe", b'{"id":"x"}', b'{"id":"r1","id":"r2"}', b"[" * 500),
    *(b'{"id":"r1","type":"prompt","payload":{"message":NaN}}', b'{"id":"\\ud800","type":"x","payload":{}}'),
)


# What may well be right, by field.
RIGHT: dict[str, Callable[[random.Random], Any]] = {
    "taskId": lambda chance: chance.choice(TASKS[:3]),
    "provider": lambda chance: chance.choice(("echo", "other")),
    "message": lambda chance: chance.choice(WORDS[1:]),
    "reason": lambda _: "lunch",
    "model": lambda _: "large",
    "since": lambda chance: chance.randrange(100),
}


def value(chance: random.Random) -> Any:
    return chance.choice(
        (None, True, -1, 0, 3, 10**30, 1.5, [], {}, chance.choice(WORDS), chance.choice(TASKS))
    )


def payload(kind: object, chance: random.Random) -> dict[str, Any]:
    command = COMMANDS.get(str(kind))
    if command is None or chance.random() < 0.3:
        return {chance.choice(FIELDS): value(chance) for _ in range(chance.randrange(4))}
    fields = (one.alias or name for name, one in command.payload.model_fields.items())
    return {name: RIGHT[name](chance) for name in fields if name in RIGHT and chance.random() < 0.8}


def line(chance: random.Random) -> bytes:
    kind = chance.random()
    if kind < 0.08:
        return chance.choice(GARBAGE)
    wanted = chance.choice((*COMMANDS, *COMMANDS, "nothing", "", "response", 7))
    frame: dict[str, Any] = {
        "id": chance.choice(IDS) if kind < 0.3 else f"u{chance.getrandbits(40)}",
        "type": wanted,
        "payload": payload(wanted, chance) if chance.random() < 0.95 else value(chance),
    }
    if chance.random() < 0.05:
        del frame[chance.choice(list(frame))]
    text = json.dumps(frame, ensure_ascii=chance.random() < 0.5).encode("utf-8", "replace")
    return text[: chance.randrange(len(text) + 1)] if chance.random() < 0.03 else text


def pieces(lines: list[bytes], chance: random.Random) -> Iterator[bytes]:
    text = b"\n".join(lines) + b"\n"
    at = 0
    while at < len(text):
        step = chance.choice((1, 7, 64, 1000, 5000))
        yield text[at : at + step]
        at += step


@dataclass
class Tally:
    """What was asked of one connection and what came back."""

    asked: Counter[str | None] = field(default_factory=Counter)
    answered: Counter[str | None] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)
    seqs: list[int] = field(default_factory=list)

    def wrong(self) -> Iterator[str]:
        if self.asked != self.answered:
            yield f"unanswered {self.asked - self.answered}, unasked {self.answered - self.asked}"
        if self.codes[RpcCode.INTERNAL_ERROR]:
            yield f"{self.codes[RpcCode.INTERNAL_ERROR]} faults of ours"
        if any(later <= earlier for earlier, later in pairwise(self.seqs)):
            yield "events out of order"

    def take(self, said: bytes) -> None:
        if not said.strip():
            return
        frame = json.loads(said)
        if frame.get("type") == "event":
            self.seqs.append(frame["seq"])
        else:
            self.answered[frame["id"]] += 1
            self.codes["ok" if frame["ok"] else frame["error"]["code"]] += 1


def note(tally: Tally, lines: list[bytes]) -> None:
    """Each line that is not blank is asked under the id that can be read in it, else under null."""
    for text in lines:
        if text.strip():
            read = read_request(text)
            tally.asked[read.id] += 1
            assert isinstance(read, Rejected) or read.id


async def client(desk: Desk, number: int, lines: list[bytes], seed: int) -> Tally:
    tally, chance = Tally(), random.Random(f"{seed} {number}")
    note(tally, lines)

    async def chunks() -> AsyncIterator[bytes]:
        for piece in pieces(lines, chance):
            if chance.random() < 0.05:
                await asyncio.sleep(0)
            yield piece

    async for said in converse(desk, Client(asker=CLIENTS[number]), chunks(), keep_alive_s=30):
        tally.take(said)
    return tally


async def misbehave(agents: MemoryAgents, chance: random.Random) -> None:
    """Agents end, say anything, do not read, and do not come up."""
    while True:
        await asyncio.sleep(0)
        agents.fails = chance.choice((0, 0, 0, 1))
        running = [agent for agent in agents.opened[-8:] if not agent.has_ended]
        if running:
            agent = chance.choice(running)
            agent.listens = chance.random() < 0.9
            event = chance.choice(("agent_output", "agent_end", "task_error", "cost_update", "lagged", "x"))
            agent.audience.said(
                event, {"taskId": "x", "total_cost_usd": chance.choice((None, "1", 0.1, 9.0))}
            )
            if chance.random() < 0.1:
                agent.end(1)


async def run(lines: int, seed: int) -> list[Tally]:
    store, agents, chance = MemoryStore(), MemoryAgents(), random.Random(seed)
    desk = desk_over(store, agents)
    bad = asyncio.create_task(misbehave(agents, chance))
    written = [[line(chance) for _ in range(lines // len(CLIENTS))] for _ in CLIENTS]
    try:
        return await asyncio.gather(*(client(desk, n, own, seed) for n, own in enumerate(written)))
    finally:
        bad.cancel()
        await desk.close()
        await store.close()


def main(lines: int = 100_000, seed: int = 1) -> int:
    began_s = time.monotonic()
    tallies = asyncio.run(run(lines, seed))
    wrong = [f"client {number}: {text}" for number, one in enumerate(tallies) for text in one.wrong()]
    print("\n".join(wrong), end="\n" if wrong else "")
    answers = sum(one.answered.total() for one in tallies)
    codes = sum((one.codes for one in tallies), Counter[str]())
    events = sum(len(one.seqs) for one in tallies)
    took_s = time.monotonic() - began_s
    print(f"{lines} lines, {answers} answers, {events} events in {took_s:.0f} s, seed {seed}: {dict(codes)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:3])))
