"""What the journal costs the thread that writes it: `bench/journal.py [--rounds N] [--jobs N] [--folder D]`.

In turns, round by round, into two files on the same disk that hold as many jobs already:

    by time      ids as they are: each begins with when it was made
    by chance    the same jobs with ids that lie anywhere, as UUIDs of version 4 do

A job is a read as the daemon writes it behind: its row, its line in the chain of the audit, its share of a
commit, in groups of 128. Times are of the processor, in us a job, medians over the rounds; beside them the
size of the log that a group leaves. Then what one `fdatasync` of 4 KiB takes on this disk: no call that
changes the store takes less. D has to be on a disk: on tmpfs a sync costs nothing.
"""

from __future__ import annotations

import argparse
import os
import secrets
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from exec_daemon.store import NewId, NewJob, Outcome, once, random_id, utc_now
from exec_daemon.store.json_text import dump
from exec_daemon.store.sqlite import journal
from exec_daemon.store.sqlite.behind import Batch
from exec_daemon.store.sqlite.files import open_database
from messaging import digest

GROUP: Final = 128
ARGS: Final = {"filter": "job.get", "verbose": False}
RESULT: Final = {"ops": [{"name": "job.get", "summary": "Show a job"}], "allowed_for_you": ["job.get"]}


def by_chance(kind: str) -> str:
    """As long as ours."""
    return f"{kind}-{secrets.token_hex(12)}"


class Cost(NamedTuple):
    """Of one job: writing it, and its share of the commit; and what its group adds to the log."""

    write_us: float
    commit_us: float
    log_kib: float


def batch(new_id: NewId) -> Batch:
    """A group of reads that have ended."""
    return Batch(jobs := tuple(read(new_id) for _ in range(GROUP)), jobs)


def read(new_id: NewId) -> once.Entry:
    new = NewJob(
        identity="agent/heron",
        call_id=new_id("call"),
        digest=digest("tools.list", ARGS),
        op="tools.list",
        args=ARGS,
        side_effecting=False,
        fresh=True,
    )
    end = Outcome(data=RESULT, text=dump(RESULT), duration_ms=0.125)
    return once.whole(new, new_id("job"), end, utc_now(), utc_now())


@contextmanager
def database(folder: Path) -> Iterator[tuple[sqlite3.Connection, Path]]:
    with tempfile.TemporaryDirectory(dir=folder) as made:
        path = Path(made) / "store.db"
        db = open_database(path)
        yield db, path.with_name("store.db-wal")
        db.close()


def write(db: sqlite3.Connection, log: Path, new_id: NewId) -> Cost:
    """One group, into a log that is empty."""
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    jobs = batch(new_id)
    began_s = time.thread_time()
    db.execute("BEGIN IMMEDIATE")
    journal.catch_up(db, jobs, None)
    written_s = time.thread_time()
    db.execute("COMMIT")
    ended_s = time.thread_time()
    each_us = 1e6 / GROUP
    size_kib = log.stat().st_size / 1024
    return Cost((written_s - began_s) * each_us, (ended_s - written_s) * each_us, size_kib)


def fill(db: sqlite3.Connection, jobs: int, new_id: NewId) -> None:
    """Jobs of the past."""
    for _ in range(jobs // GROUP):
        db.execute("BEGIN IMMEDIATE")
        journal.catch_up(db, batch(new_id), None)
        db.execute("COMMIT")


def sync_ms(folder: Path, times: int = 200) -> float:
    """The median of `fdatasync` after 4 KiB within a file."""
    with tempfile.TemporaryFile(dir=folder) as file:
        number, took = file.fileno(), list[float]()
        os.pwrite(number, bytes(4 << 20), 0)
        os.fsync(number)
        for turn in range(times):
            os.pwrite(number, secrets.token_bytes(4096), turn * 4096)
            began_s = time.perf_counter()
            os.fdatasync(number)
            took.append((time.perf_counter() - began_s) * 1000)
    return statistics.median(took)


def compare(folder: Path, jobs: int, rounds: int) -> None:
    """One row for each kind of ids."""
    with database(folder) as ours, database(folder) as theirs:
        kinds = {"by time": (*ours, random_id), "by chance": (*theirs, by_chance)}
        for db, _, new_id in kinds.values():
            fill(db, jobs, new_id)
        costs: dict[str, list[Cost]] = {name: [] for name in kinds}
        for _ in range(rounds):
            for name, (db, log, new_id) in kinds.items():
                costs[name].append(write(db, log, new_id))
    for name, found in costs.items():
        write_us, commit_us, log_kib = (statistics.median(column) for column in zip(*found, strict=True))
        cells = f"{write_us:.1f} | {commit_us:.1f} | {write_us + commit_us:.1f} | {log_kib:,.0f}"
        print(f"| {jobs:,} | {name} | {cells} |", flush=True)


def main() -> None:
    """Prints the table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--rounds", type=int, default=60)
    options.add_argument(
        "--jobs", type=int, default=100_000, help="in the file already, for the second table"
    )
    options.add_argument("--folder", type=Path, default=Path.cwd(), help="on the disk that is measured")
    chosen = options.parse_args()
    print("| jobs in the file | ids | write, us a job | commit, us a job | both | log of a group, KiB |")
    print("|---:|---|---:|---:|---:|---:|")
    for jobs in (0, chosen.jobs):
        compare(chosen.folder, jobs, chosen.rounds)
    print(f"\none fdatasync of 4 KiB: {sync_ms(chosen.folder):.2f} ms")


if __name__ == "__main__":
    main()
