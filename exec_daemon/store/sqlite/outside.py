"""Jobs that run outside, in SQL. The rule of what may arrive is in `once`."""

from __future__ import annotations

import sqlite3

from exec_daemon.store import once
from exec_daemon.store.errors import Exists, NoSuchJob
from exec_daemon.store.feed import job_topic
from exec_daemon.store.json_text import dump, load
from exec_daemon.store.outside_values import Arrival, OutsideJob, Reception, Standing
from exec_daemon.store.sqlite.statements import insert, select
from exec_daemon.store.sqlite.writer import Written
from messaging import EventType, JobEvent

_JOB_COLUMNS = ("id", "identity", "created_at")
_INSERT_JOB = insert("outside_jobs", _JOB_COLUMNS)
_JOB = select("outside_jobs", _JOB_COLUMNS)
_TAKEN = "SELECT 1 FROM jobs WHERE id = ? UNION ALL SELECT 1 FROM outside_jobs WHERE id = ?"
_SAME = "SELECT sha256 FROM arrivals WHERE job = ? AND seq = ?"
_IS_END = "WHERE job = ? AND type IN ('succeeded', 'failed')"
_END = select("arrivals", ("seq",)) + _IS_END
_COUNT = "SELECT count(*), max(seq) FROM arrivals WHERE job = ?"
_ARRIVAL_COLUMNS = ("seq", "ts", "type", "payload", "sha256", "received_at")
_INSERT_ARRIVAL = insert("arrivals", ("job", *_ARRIVAL_COLUMNS))
_ARRIVAL = select("arrivals", _ARRIVAL_COLUMNS)


def expect(db: sqlite3.Connection, job_id: str, identity: str, at: str) -> Written[OutsideJob]:
    """As the port's `expect`."""
    if db.execute(_TAKEN, (job_id, job_id)).fetchone() is not None:
        raise Exists(f"there is a job {job_id!r} already", job_id)
    db.execute(_INSERT_JOB, (job_id, identity, at))
    return Written(OutsideJob(id=job_id, identity=identity, created_at=at))


def outside_job(db: sqlite3.Connection, job_id: str) -> OutsideJob | None:
    """As the port's `outside_job`."""
    row = db.execute(_JOB + "WHERE id = ?", (job_id,)).fetchone()
    return None if row is None else OutsideJob(**row)


def outside_jobs(db: sqlite3.Connection, limit: int) -> list[OutsideJob]:
    """As the port's `outside_jobs`."""
    return [OutsideJob(**row) for row in db.execute(_JOB + "ORDER BY rowid DESC LIMIT ?", (limit,))]


def receive(db: sqlite3.Connection, event: JobEvent, sha256: str, at: str) -> Written[Reception]:
    """As the port's `receive`."""
    if outside_job(db, event.job_id) is None:
        raise NoSuchJob(f"there is no job {event.job_id!r}", event.job_id)
    same = db.execute(_SAME, (event.job_id, event.seq)).fetchone()
    end = db.execute(_END, (event.job_id,)).fetchone()
    reception = once.reception(event, sha256, same and same["sha256"], end and end["seq"])
    if reception is not Reception.STORED:
        return Written(reception)
    values = (event.job_id, event.seq, event.ts, event.type, dump(event.payload), sha256, at)
    db.execute(_INSERT_ARRIVAL, values)
    return Written(reception, (job_topic(event.job_id),))


def arrivals(db: sqlite3.Connection, job_id: str, after: int) -> list[Arrival]:
    """As the port's `arrivals`."""
    rows = db.execute(_ARRIVAL + "WHERE job = ? AND seq > ? ORDER BY seq", (job_id, after))
    return [_arrival(job_id, row) for row in rows]


def standing(db: sqlite3.Connection, job_id: str) -> Standing:
    """As the port's `standing`."""
    count, last_seq = db.execute(_COUNT, (job_id,)).fetchone()
    end = db.execute(_ARRIVAL + _IS_END, (job_id,)).fetchone()
    return Standing(count, -1 if last_seq is None else last_seq, end and _arrival(job_id, end).event)


def _arrival(job_id: str, row: sqlite3.Row) -> Arrival:
    event = JobEvent(
        job_id=job_id,
        seq=row["seq"],
        ts=row["ts"],
        type=EventType(row["type"]),
        payload=load(row["payload"]),
    )
    return Arrival(event, row["sha256"], row["received_at"])
