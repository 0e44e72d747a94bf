"""Callbacks to a receiver that behaves as networks do: `python -m tests.soak.callback [SEED [EVENTS]]`.

20 jobs tell their events to one receiver that, by a seeded die, takes them, answers 500, 429 with
Retry-After, redirects to another host, resets the connection, or says nothing until the time limit. Then it
gets well, and what was spooled is sent again. Afterwards each event must have been taken, in the order of its
job, each attempt with the same bytes, key and signature, and the other host must have seen nothing.
"""

from __future__ import annotations

import asyncio
import logging
import random
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from messaging import JobEvent, decode_event, verify
from messaging.sinks import Callback, CallbackSink, Retries, SinkError, Spool, SpoolingSink, resend
from tests.integration._receiver import Answer, Asked, Receiver
from tests.messaging._events import story

JOBS = 20
SECRET = "soak"
TIMEOUT_S = 0.3
# What happens to a request, and how often of a hundred times.
FAULTS = {"taken": 55, "500": 12, "429": 8, "redirect": 8, "reset": 9, "silence": 8}


class Die:
    """Decides what happens to each request; remembers which ones were taken."""

    def __init__(self, seed: int, elsewhere: str) -> None:
        self._random = random.Random(seed)
        self.well = False
        self.rolled: Counter[str] = Counter()
        self.taken: list[Asked] = []
        self._answers = {
            "500": Answer(500),
            "429": Answer(429, Retry_After="0"),
            "redirect": Answer(307, Location=elsewhere),
            "reset": Answer(0),
            "silence": Answer(503, wait_s=2 * TIMEOUT_S),
        }

    def __call__(self, _: int, asked: Asked) -> Answer:
        fault = "taken" if self.well else self._random.choices([*FAULTS], [*FAULTS.values()])[0]
        self.rolled[fault] += 1
        if fault != "taken":
            return self._answers[fault]
        self.taken.append(asked)
        return Answer(202)


async def tell(url: str, told: list[JobEvent], spool: Spool) -> None:
    retries = Retries(attempts=4, base_s=0.01)
    callback = Callback(url=url, secret=SECRET, retries=retries, timeout_s=TIMEOUT_S)
    sink = SpoolingSink(CallbackSink(callback), spool)
    for one in told:
        await sink.emit(one)
    with suppress(SinkError):  # what is left is in the spool
        await sink.close()


async def send_rest(url: str, spool: Spool) -> int:
    sink = CallbackSink(Callback(url=url, secret=SECRET))
    sent = sum([(await resend(spool, job_id, sink)).sent for job_id in spool.jobs()])
    await sink.close()
    return sent


def problems(receiver: Receiver, die: Die, stories: dict[str, list[JobEvent]]) -> Iterator[str]:
    taken: defaultdict[str, list[JobEvent]] = defaultdict(list)
    for asked in die.taken:
        event = decode_event(asked.body)
        if not taken[event.job_id] or taken[event.job_id][-1].seq != event.seq:  # an answer may be lost
            taken[event.job_id].append(event)
    for job_id, told in stories.items():
        if taken[job_id] != told:
            yield f"{job_id}: {[one.seq for one in taken[job_id]]} of {len(told)}"
    yield from _attempts(receiver)


def _attempts(receiver: Receiver) -> Iterator[str]:
    """Each attempt at an event has the same bytes under the same key, signed."""
    bodies: dict[str, set[bytes]] = defaultdict(set)
    for asked in receiver.requests:
        key = asked.headers["idempotency-key"]
        bodies[key].add(asked.body)
        signed = verify(SECRET, asked.body, asked.headers["x-signature"])
        if not signed or key != decode_event(asked.body).key:
            yield f"{key}: wrong key or signature"
    yield from (f"{key}: {len(found)} bodies" for key, found in bodies.items() if len(found) > 1)


async def talk(url: str, die: Die, stories: dict[str, list[JobEvent]], spool: Spool) -> int:
    await asyncio.gather(*(tell(url, told, spool) for told in stories.values()))
    die.well = True
    return await send_rest(url, spool)


def main(seed: int, events: int) -> int:
    logging.disable()  # each event that is spooled says so
    began_s = time.monotonic()
    stories = {f"job-{number}": story(events // JOBS, f"job-{number}") for number in range(JOBS)}
    with Receiver() as elsewhere, tempfile.TemporaryDirectory() as folder:
        die = Die(seed, elsewhere.url)
        with Receiver(die) as receiver:
            resent = asyncio.run(talk(receiver.url, die, stories, Spool(Path(folder) / "spool")))
            found = [*problems(receiver, die, stories)]
        if elsewhere.requests:
            found.append(f"the other host got {len(elsewhere.requests)} requests")
    rolled = ", ".join(f"{name} {count}" for name, count in die.rolled.items())
    print(f"seed {seed}: {events} events of {JOBS} jobs in {time.monotonic() - began_s:.1f} s; {rolled}")
    print(f"{resent} sent from the spool afterwards, {len(found)} problems")
    print("\n".join(found[:20]), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*(int(word) for word in [*sys.argv[1:], "1", "1000"][:2])))
