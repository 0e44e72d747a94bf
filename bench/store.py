"""Group commit beside one commit per write: `bench/store.py [--seconds S] [--rounds N] [--folder DIR]`.

All three write the same rows through the same SQL into the same kind of file (WAL, synchronous FULL), in
turns, round by round, on the same disk:

    plain      a loop over sqlite3: BEGIN, the write, COMMIT; no threads, no event loop
    one by one our writer with groups of one
    grouped    our writer as it is

Rates are medians over the rounds; ratios are taken within a round, then their median, since the speed of a
disk wanders. DIR has to be on a disk: on tmpfs a sync costs nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from exec_daemon.store.feed import Feed
from exec_daemon.store.sources import random_id, utc_now
from exec_daemon.store.sqlite import journal, threads
from exec_daemon.store.sqlite.files import open_database
from exec_daemon.store.sqlite.writer import MOST_IN_GROUP, Writer, Written
from exec_daemon.store.values import AppendMessage, NewJob, NewThread, Outcome
from messaging import AuthorKind, MessageKind, NewMessage

# How many callers write at once: a lone one, a busy machine, a fleet.
CALLERS = (1, 8, 64, 512)
BODY = "A message of the usual length, some eighty characters of text in one short line."


class Rates(NamedTuple):
    """Writes per second."""

    plain: float
    one_by_one: float
    grouped: float


Act = Callable[[sqlite3.Connection, int], Written[Any]]


def numbered(act: Act, number: int, db: sqlite3.Connection) -> Written[Any]:
    """A write as the writer takes it."""
    return act(db, number)


def message() -> NewMessage:
    return NewMessage(
        thread="bench", author="heron", author_kind=AuthorKind.AGENT, kind=MessageKind.TEXT, body=BODY
    )


def append(db: sqlite3.Connection, number: int) -> Written[Any]:
    """One message."""
    del number
    return threads.append(db, message(), random_id("msg"), utc_now())


def call(db: sqlite3.Connection, number: int) -> Written[Any]:
    """One half of a call with one effect: even numbers begin it, odd ones end it."""
    job_id = f"job-{number // 2}"
    if number % 2 == 0:
        new = NewJob(
            identity="agent/heron",
            call_id=job_id,
            digest="0" * 64,
            op="dm.send",
            args={"to": "crane", "text": BODY},
            side_effecting=True,
        )
        return journal.begin(db, new, job_id, utc_now())
    effect = AppendMessage(message(), random_id("msg"))
    return journal.finish(db, job_id, Outcome(data={"sent": True}), [effect], utc_now())


@contextmanager
def database(folder: Path) -> Iterator[tuple[sqlite3.Connection, Path]]:
    with tempfile.TemporaryDirectory(dir=folder) as made:
        path = Path(made) / "store.db"
        db = open_database(path)
        threads.create(db, NewThread(id="bench", title="bench"), utc_now())
        yield db, path
        db.close()


def plain(folder: Path, act: Act, seconds: float) -> float:
    """Writes per second of a loop."""
    with database(folder) as (db, _):
        started = time.perf_counter()
        for number in count():
            db.execute("BEGIN IMMEDIATE")
            act(db, number)
            db.execute("COMMIT")
            took_s = time.perf_counter() - started
            if took_s >= seconds:
                return (number + 1) / took_s
    raise AssertionError("count() ended")


async def through_writer(folder: Path, act: Act, seconds: float, callers: int, most_in_group: int) -> float:
    """Writes per second of `callers` tasks, each of which waits for its write before the next."""
    with database(folder) as (db, path):
        writer = Writer(db, path, Feed(), most_in_group=most_in_group)
        pairs = count()
        started = time.perf_counter()

        async def work() -> int:
            done = 0
            while time.perf_counter() - started < seconds:
                first = 2 * next(pairs)
                for number in (first, first + 1):
                    await writer.write(partial(numbered, act, number))
                done += 2
            return done

        writes = sum(await asyncio.gather(*[work() for _ in range(callers)]))
        took_s = time.perf_counter() - started
        await writer.close()
        return writes / took_s


def measure(folder: Path, act: Act, seconds: float, callers: int) -> Rates:
    """One round."""
    return Rates(
        plain(folder, act, seconds),
        asyncio.run(through_writer(folder, act, seconds, callers, 1)),
        asyncio.run(through_writer(folder, act, seconds, callers, MOST_IN_GROUP)),
    )


def row(rounds: list[Rates]) -> str:
    """The cells of a row: rates, then ratios."""
    rates = [statistics.median(column) for column in zip(*rounds, strict=True)]
    to_plain = statistics.median(rate.grouped / rate.plain for rate in rounds)
    to_one_by_one = statistics.median(rate.grouped / rate.one_by_one for rate in rounds)
    return " | ".join([*[f"{rate:,.0f}" for rate in rates], f"{to_plain:.1f}", f"{to_one_by_one:.1f}"])


def main() -> None:
    options = argparse.ArgumentParser(description="group commit beside one commit per write")
    options.add_argument("--seconds", type=float, default=0.5, help="length of one measurement")
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--folder", type=Path, default=Path.cwd(), help="a folder on the disk to measure")
    chosen = options.parse_args()
    head = ("write", "callers", "plain/s", "one by one/s", "grouped/s", "to plain", "to one by one")
    print("| " + " | ".join(head) + " |\n|---|" + "---:|" * (len(head) - 1))
    for name, act in (("message", append), ("half a call", call)):
        for callers in CALLERS:
            rounds = [measure(chosen.folder, act, chosen.seconds, callers) for _ in range(chosen.rounds)]
            print(f"| {name} | {callers} | {row(rounds)} |", flush=True)


if __name__ == "__main__":
    main()
