"""The journal in SQL. The rules are in `once`; here is only where things are put."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from exec_daemon.store import once
from exec_daemon.store.effects import Effect, StepTimer, StepWorkers
from exec_daemon.store.errors import JobEnded, NoSuchJob
from exec_daemon.store.feed import job_topic
from exec_daemon.store.json_text import dump, load
from exec_daemon.store.sqlite import artifacts, audit, threads, timers, workers
from exec_daemon.store.sqlite.behind import Batch
from exec_daemon.store.sqlite.statements import insert_all, select
from exec_daemon.store.sqlite.writer import Written
from exec_daemon.store.values import Begun, KeepArtifact, New, NewAuditLine, NewJob, Outcome
from messaging import EventType, Job, JobEvent, JobState

_PLAIN = ("id", "identity", "call_id", "op", "side_effecting", "thread", "reply", "state", "created_at")
_BESIDE = ("digest", "effects_inside", "on_behalf_of", "asked_by")
_END = ("ended_at", "duration_ms", "result", "error", "holds_call")
_JOB_COLUMNS = (*_PLAIN, "args", *_BESIDE, *_END)
_EVENT_COLUMNS = ("job", "seq", "ts", "type", "payload")
_JOB = select("jobs", (*_PLAIN, "args", "ended_at", "duration_ms", "result", "error", *_BESIDE, "number"))
# What the index of states asks for (store/sql/0013).
_NOT_SUCCEEDED = "state <> 'succeeded'"

_plain_values = attrgetter(*_PLAIN)
_values_beside = attrgetter(*_BESIDE)


@dataclass(frozen=True, slots=True)
class _Row:
    """An entry, and its number in the tables."""

    number: int
    entry: once.Entry


def begin(db: sqlite3.Connection, new: NewJob, job_id: str, at: str) -> Written[Begun]:
    """As the port's `begin`."""
    earlier = of_call(db, new.identity, new.call_id)
    if earlier is not None:
        return Written(once.answer(earlier, new))
    entry = once.start(new, job_id, at)
    _insert_jobs(db, [entry])
    if not entry.repeatable:
        audit.append(db, [once.audit_line(entry)])
    return Written(New(entry.job), (job_topic(job_id),))


def of_call(db: sqlite3.Connection, identity: str, call_id: str) -> once.Entry | None:
    """The job that stands for the call."""
    where = "WHERE identity = ? AND call_id = ? AND holds_call = 1"
    row = db.execute(_JOB + where, (identity, call_id)).fetchone()
    return None if row is None else _read(row).entry


def catch_up(db: sqlite3.Connection, batch: Batch, lost: NewAuditLine | None) -> Written[None]:
    """Writes what was left for later; `lost` tells of what could not be written before."""
    without_row = {entry.job.id for entry in batch.begun}
    _insert_jobs(db, batch.begun)
    for entry in batch.ended:
        if entry.job.id not in without_row:
            _write_end(db, _row(db, entry.job.id).number, entry)
    lines = [once.audit_line(entry) for entry in batch.ended]
    audit.append(db, [lost, *lines] if lost else lines)
    return Written(None)


def _insert_jobs(db: sqlite3.Connection, entries: Sequence[once.Entry]) -> int:
    """Jobs as they stand; the number of the last: they follow in their order.

    One that has ended gets no rows of events: it had its first and its last, and its own row says both.
    """
    last = insert_all(db, "jobs", _JOB_COLUMNS, map(_job_values, entries))
    numbered = enumerate((entry.job for entry in entries), last - len(entries) + 1)
    rows = (_event_row(number, once.accepted(job)) for number, job in numbered if _runs(job))
    insert_all(db, "job_events", _EVENT_COLUMNS, rows)
    return last


def _runs(job: Job) -> bool:
    return job.state is JobState.RUNNING


def _job_values(entry: once.Entry) -> tuple[Any, ...]:
    job = entry.job
    return (*_plain_values(job), dump(job.args), *_values_beside(entry), *_end_values(entry))


def _event_row(number: int, event: JobEvent) -> tuple[Any, ...]:
    return (number, event.seq, event.ts, event.type, dump(event.payload))


def _end_event(number: int, seq: int, job: Job) -> tuple[Any, ...]:
    """The last event of a job that has ended; its payload stands in the job's row."""
    return (number, seq, job.ended_at, once.end_type(job), None)


def _end_values(entry: once.Entry) -> tuple[Any, ...]:
    job = entry.job
    if _runs(job):
        return (None, None, None, None, True)
    result, error = entry.text or dump(job.result), "null" if job.error is None else dump(job.error)
    return (job.ended_at, job.duration_ms, result, error, once.holds_call(job))


def finish(
    db: sqlite3.Connection, job_id: str, outcome: Outcome, effects: Sequence[Effect], at: str
) -> Written[Job]:
    """As the port's `finish`; each message has its id."""
    row = _row(db, job_id)
    if row.entry.job.state is not JobState.RUNNING:
        return Written(row.entry.job)
    news = _take_effects(db, effects, row.number, at)
    return Written(_end(db, row, outcome, at), (*news, job_topic(job_id)))


def add_ended(db: sqlite3.Connection, ended: once.Entry, effects: Sequence[Effect], at: str) -> Written[Job]:
    """The same for a job that has no row yet: it is written once, as it ended."""
    number = _insert_jobs(db, [ended])
    news = _take_effects(db, effects, number, at)
    audit.append(db, [once.audit_line(ended)])
    return Written(ended.job, (*news, job_topic(ended.job.id)))


def _take_effects(db: sqlite3.Connection, effects: Sequence[Effect], job: int, at: str) -> tuple[str, ...]:
    return tuple(topic for effect in effects for topic in _take_effect(db, effect, job, at))


def _take_effect(db: sqlite3.Connection, effect: Effect, job: int, at: str) -> tuple[str, ...]:
    """The topics that have news."""
    if isinstance(effect, KeepArtifact):
        artifacts.keep(db, effect.ref, job)
        return ()
    if isinstance(effect, StepTimer):
        return timers.take(db, effect.step, at)
    if isinstance(effect, StepWorkers):
        return workers.take(db, effect.step, at)
    return threads.append(db, effect.message, effect.id or "", at).news


def interrupt_running(db: sqlite3.Connection, at: str) -> Written[list[Job]]:
    """As the port's `interrupt_running`."""
    running = f"WHERE state = 'running' AND {_NOT_SUCCEEDED} ORDER BY number"
    rows = [_read(row) for row in db.execute(_JOB + running)]
    left = [row for row in rows if once.ends_with_the_daemon(row.entry.job)]
    ended = [_end(db, row, once.interruption(row.entry), at) for row in left]
    return Written(ended, tuple(job_topic(job.id) for job in ended))


def _end(db: sqlite3.Connection, row: _Row, outcome: Outcome, at: str) -> Job:
    ended = once.ended(row.entry, outcome, at)
    _write_end(db, row.number, ended)
    audit.append(db, [once.audit_line(ended)])
    return ended.job


def _write_end(db: sqlite3.Connection, number: int, ended: once.Entry) -> None:
    columns = ", ".join(f"{column} = ?" for column in ("state", *_END))
    values = (ended.job.state, *_end_values(ended), number)
    db.execute(f"UPDATE jobs SET {columns} WHERE number = ?", values)  # noqa: S608 - literals only
    insert_all(db, "job_events", _EVENT_COLUMNS, [_end_event(number, _next_seq(db, number), ended.job)])


def add_event(
    db: sqlite3.Connection, job_id: str, event: EventType, payload: Mapping[str, Any], at: str
) -> Written[JobEvent]:
    """As the port's `add_event`."""
    row = _row(db, job_id)
    if row.entry.job.state is not JobState.RUNNING:
        raise JobEnded(f"job {job_id} has ended", job_id)
    seq = _next_seq(db, row.number)
    step = JobEvent(job_id=job_id, seq=seq, ts=at, type=event, payload=payload)
    insert_all(db, "job_events", _EVENT_COLUMNS, [_event_row(row.number, step)])
    return Written(step, (job_topic(job_id),))


def _next_seq(db: sqlite3.Connection, number: int) -> int:
    row = db.execute("SELECT max(seq) + 1 FROM job_events WHERE job = ?", (number,)).fetchone()
    return int(row[0])


def events(db: sqlite3.Connection, job_id: str, after: int) -> list[JobEvent]:
    """As the port's `events`."""
    found = db.execute(_JOB + "WHERE id = ?", (job_id,)).fetchone()
    if found is None:
        return []
    row = _read(found)
    if not _runs(row.entry.job) and not _has_events(db, row.number):
        return [event for event in once.both(row.entry.job) if event.seq > after]
    rows = db.execute(
        "SELECT seq, ts, type, payload FROM job_events WHERE job = ? AND seq > ? ORDER BY seq",
        (row.number, after),
    )
    return [_event(row.entry.job, event) for event in rows]


def _has_events(db: sqlite3.Connection, number: int) -> bool:
    return db.execute("SELECT 1 FROM job_events WHERE job = ? LIMIT 1", (number,)).fetchone() is not None


def _event(job: Job, row: sqlite3.Row) -> JobEvent:
    kind = EventType(row["type"])
    if kind.terminal:
        return once.terminal(job, row["seq"])
    return JobEvent(job_id=job.id, seq=row["seq"], ts=row["ts"], type=kind, payload=load(row["payload"]))


def job(db: sqlite3.Connection, job_id: str) -> Job | None:
    """As the port's `job`."""
    found = db.execute(_JOB + "WHERE id = ?", (job_id,)).fetchone()
    return None if found is None else _read(found).entry.job


def jobs(db: sqlite3.Connection, identity: str | None, state: JobState | None, limit: int) -> list[Job]:
    """As the port's `jobs`."""
    wanted = {"identity": identity, "state": state}
    asked = [f"{column} = :{column}" for column, value in wanted.items() if value is not None]
    if state not in (None, JobState.SUCCEEDED):
        asked.append(_NOT_SUCCEEDED)
    where = f"WHERE {' AND '.join(asked)} " if asked else ""
    rows = db.execute(_JOB + where + "ORDER BY number DESC LIMIT :limit", wanted | {"limit": limit})
    return [_read(row).entry.job for row in rows]


def _row(db: sqlite3.Connection, job_id: str) -> _Row:
    found = db.execute(_JOB + "WHERE id = ?", (job_id,)).fetchone()
    if found is None:
        raise NoSuchJob(f"there is no job {job_id!r}", job_id)
    return _read(found)


def _read(row: sqlite3.Row) -> _Row:
    columns = dict(row)
    number = columns.pop("number")
    beside = {name: columns.pop(name) for name in _BESIDE}
    beside["effects_inside"] = bool(beside["effects_inside"])
    columns["state"] = JobState(columns["state"])
    columns["side_effecting"] = bool(columns["side_effecting"])
    text = columns["result"]
    for name in ("args", "result", "error"):
        columns[name] = None if columns[name] is None else load(columns[name])
    return _Row(number, once.Entry(Job(**columns), **beside, text=text))
