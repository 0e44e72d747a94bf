"""What is remembered no longer, in SQL: small batches, so that no call waits for one."""

from __future__ import annotations

import sqlite3
from itertools import takewhile

from exec_daemon.store import once
from exec_daemon.store.retention import LEAST_LINES, Excess
from exec_daemon.store.sqlite import audit
from exec_daemon.store.sqlite.writer import Written

# A batch takes some milliseconds of the writer.
MOST_JOBS = 200
MOST_LINES = 1000
# Pages given back to the file system after a batch; SQLite would keep them for itself.
_FREED_PAGES = 500

# Jobs that run stand among the oldest, if they stand there at all.
_OLDEST = "SELECT number, state, created_at FROM jobs ORDER BY number LIMIT 2000"
_BUSIEST = "SELECT identity, count(*) AS jobs FROM jobs GROUP BY identity HAVING count(*) > ?"
_OLD_WORKERS = (
    "DELETE FROM workers WHERE number IN (SELECT number FROM workers "
    "WHERE state IN ('ended', 'failed') AND ended_at < ? ORDER BY number LIMIT ?)"
)
_OLDEST_OF = "SELECT number FROM jobs WHERE identity = ? AND state <> 'running' ORDER BY number LIMIT ?"


def excess_jobs(db: sqlite3.Connection, excess: Excess) -> list[int]:
    """The numbers of ended jobs that may go, of a batch at most."""
    oldest = takewhile(lambda row: row["created_at"] < excess.jobs_before, db.execute(_OLDEST))
    found = [row["number"] for row in oldest if row["state"] != "running"]
    for identity, jobs in db.execute(_BUSIEST, (excess.keep_jobs or 2**62,)).fetchall():
        most = min(jobs - excess.keep_jobs, MOST_JOBS)
        found += [row["number"] for row in db.execute(_OLDEST_OF, (identity, most))]
    return list(dict.fromkeys(found))[:MOST_JOBS]


def prune_jobs(db: sqlite3.Connection, numbers: list[int]) -> Written[int]:
    """Removes them with their events; content that only they knew of is found by nobody from now on."""
    one_each = [(number,) for number in numbers]
    db.executemany("DELETE FROM job_events WHERE job = ?", one_each)
    db.executemany("DELETE FROM artifacts WHERE job = ?", one_each)
    done = db.executemany("DELETE FROM jobs WHERE number = ? AND state <> 'running'", one_each)
    return Written(done.rowcount)


def prune_workers(db: sqlite3.Connection, before: str) -> Written[int]:
    """Removes those that were over before this time; their threads stay, as all threads do."""
    return Written(db.execute(_OLD_WORKERS, (before, MOST_JOBS)).rowcount)


def last_excess_line(db: sqlite3.Connection, excess: Excess) -> int:
    """The number of the last line that may go, of a batch at most; 0 for none."""
    begin = audit.start(db).seq
    rows = db.execute(
        "SELECT seq, at FROM audit WHERE seq > ? ORDER BY seq LIMIT ?", (begin, MOST_LINES)
    ).fetchall()
    over = audit.last(db) - excess.keep_lines if excess.keep_lines else 0
    gone = list(takewhile(lambda row: row["at"] < excess.lines_before or row["seq"] <= over, rows))
    return int(gone[-1]["seq"]) if len(gone) >= LEAST_LINES else 0


def prune_lines(db: sqlite3.Connection, last: int, at: str) -> Written[int]:
    """Removes the lines up to `last`. The chain starts behind it from now on, and says so itself."""
    hashed = db.execute("SELECT hash FROM audit WHERE seq = ?", (last,)).fetchone()["hash"]
    db.execute("UPDATE audit_start SET seq = ?, hash = ?", (last, hashed))
    done = db.execute("DELETE FROM audit WHERE seq <= ?", (last,))
    audit.append(db, [once.pruned_line(last, hashed, at)])
    return Written(done.rowcount)


def shrink(db: sqlite3.Connection) -> Written[None]:
    """Gives room back to the file system. Python steps a pragma once, and each step frees one page."""
    free = int(db.execute("PRAGMA freelist_count").fetchone()[0])
    for _ in range(min(free, _FREED_PAGES)):
        db.execute("PRAGMA incremental_vacuum(1)")
    return Written(None)
