"""Timers and their runs in SQL. A step puts its parts where each of them has its own file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import fields
from operator import attrgetter
from typing import Any

from exec_daemon.store.errors import Exists, Outdated
from exec_daemon.store.json_text import dump, load
from exec_daemon.store.sqlite import threads
from exec_daemon.store.sqlite.statements import insert, select
from exec_daemon.store.sqlite.writer import Written
from exec_daemon.store.timer_port import TIMERS
from exec_daemon.store.timer_values import RunState, Timer, TimerRun, TimerState, TimerStep
from messaging import EventType

_COLUMNS = tuple(field.name for field in fields(Timer))
_RUN_COLUMNS = tuple(field.name for field in fields(TimerRun))
_INSERT = insert("timers", _COLUMNS)
_INSERT_RUN = insert("timer_runs", _RUN_COLUMNS)
_TIMER = select("timers", _COLUMNS)
_RUN = select("timer_runs", _RUN_COLUMNS)
_UPDATE = f"UPDATE timers SET {', '.join(f'{name} = ?' for name in _COLUMNS)} WHERE id = ? AND version = ?"  # noqa: S608 - literals only
_UPDATE_RUN = (
    f"UPDATE timer_runs SET {', '.join(f'{name} = ?' for name in _RUN_COLUMNS)} WHERE timer = ? AND due = ?"  # noqa: S608 - literals only
)
_NEXT = """
    SELECT min(at) FROM (
        SELECT min(next_at) AS at FROM timers WHERE state = 'active' AND next_at IS NOT NULL
        UNION ALL SELECT min(wake_at) FROM timer_runs WHERE wake_at IS NOT NULL
    )
"""

_timer_values = attrgetter(*_COLUMNS)
_run_values = attrgetter(*_RUN_COLUMNS)
_FORGET_TIMERS = (
    "DELETE FROM timers WHERE state NOT IN ('active', 'paused') AND updated_at < ? "
    "AND NOT EXISTS (SELECT 1 FROM timer_runs WHERE timer_runs.timer = timers.id)"
)


def step(db: sqlite3.Connection, wanted: TimerStep, at: str) -> Written[bool]:
    """As the port's `step_timer`."""
    if not _put(db, wanted.timer, wanted.was):
        return Written(value=False)
    for run in wanted.added:
        _insert_run(db, run)
    for run in wanted.changed:
        db.execute(_UPDATE_RUN, (*_run_values(run), run.timer, run.due))
    return Written(value=True, news=(TIMERS, *_news(db, wanted, at)))


def take(db: sqlite3.Connection, wanted: TimerStep, at: str) -> tuple[str, ...]:
    """The step as an effect of a job: the topics that have news. Raises `Outdated`."""
    done = step(db, wanted, at)
    if not done.value:
        raise Outdated(f"the timer {wanted.timer.name!r} changed meanwhile", wanted.timer.name)
    return done.news


def _news(db: sqlite3.Connection, wanted: TimerStep, at: str) -> Iterator[str]:
    """Puts what is not a timer's own, and gives the topics of it."""
    from exec_daemon.store.sqlite import journal  # whose effects are steps in turn

    for thread in wanted.threads:
        threads.create(db, thread, at)
    for start in wanted.starts:
        yield from journal.begin(db, start.job, start.id, at).news
    for post in wanted.posts:
        yield from threads.append(db, post.message, post.id, at).news
    for job_id, payload in wanted.warns:
        yield from journal.add_event(db, job_id, EventType.WARNING, payload, at).news
    for job_id, outcome in wanted.ends:
        yield from journal.finish(db, job_id, outcome, (), at).news


def _put(db: sqlite3.Connection, timer: Timer, was: int | None) -> bool:
    try:
        row = _row(_timer_values(timer), _COLUMNS)
        if was is None:
            db.execute(_INSERT, row)
            return True
        return db.execute(_UPDATE, (*row, timer.id, was)).rowcount == 1
    except sqlite3.IntegrityError:
        raise Exists(f"there is a timer {timer.name!r} already", timer.name) from None


def _row(values: tuple[Any, ...], columns: tuple[str, ...]) -> tuple[Any, ...]:
    return tuple(
        dump(value) if name == "plan" else value for name, value in zip(columns, values, strict=True)
    )


def _insert_run(db: sqlite3.Connection, run: TimerRun) -> None:
    try:
        db.execute(_INSERT_RUN, _run_values(run))
    except sqlite3.IntegrityError:
        raise Exists(f"the timer {run.timer} has a run of {run.due} already", run.timer) from None


def forget(db: sqlite3.Connection, before: str) -> Written[int]:
    """As the port's `forget_runs`."""
    done = db.execute("DELETE FROM timer_runs WHERE state IN ('ended', 'skipped') AND at < ?", (before,))
    db.execute(_FORGET_TIMERS, (before,))
    return Written(done.rowcount)


def timer(db: sqlite3.Connection, timer_id: str) -> Timer | None:
    """As the port's `timer`."""
    row = db.execute(_TIMER + "WHERE id = ?", (timer_id,)).fetchone()
    return None if row is None else _timer(row)


def timers(
    db: sqlite3.Connection,
    created_by: str | None,
    name: str | None,
    states: tuple[TimerState, ...],
    limit: int,
) -> list[Timer]:
    """As the port's `timers`."""
    rows = db.execute(
        _TIMER + "WHERE (:by IS NULL OR created_by = :by) AND (:name IS NULL OR name = :name) "
        "AND instr(:states, ' ' || state || ' ') > 0 "
        "ORDER BY next_at IS NULL, next_at, number LIMIT :limit",
        {"by": created_by, "name": name, "states": f" {' '.join(states)} ", "limit": limit},
    )
    return [_timer(row) for row in rows]


def due_timers(db: sqlite3.Connection, now: str, limit: int) -> list[Timer]:
    """As the port's `due_timers`; the literals are those of the partial index."""
    where = "WHERE state = 'active' AND next_at IS NOT NULL AND next_at <= ? ORDER BY next_at, number LIMIT ?"
    return [_timer(row) for row in db.execute(_TIMER + where, (now, limit))]


def waking_runs(db: sqlite3.Connection, now: str, limit: int) -> list[TimerRun]:
    """As the port's `waking_runs`."""
    where = "WHERE wake_at IS NOT NULL AND wake_at <= ? ORDER BY wake_at, timer, due LIMIT ?"
    return [_run(row) for row in db.execute(_RUN + where, (now, limit))]


def next_at(db: sqlite3.Connection) -> str | None:
    """As the port's `next_timer_at`."""
    found: str | None = db.execute(_NEXT).fetchone()[0]
    return found


def runs(db: sqlite3.Connection, timer_id: str, limit: int) -> list[TimerRun]:
    """As the port's `timer_runs`."""
    rows = db.execute(_RUN + "WHERE timer = ? ORDER BY due DESC LIMIT ?", (timer_id, limit))
    return [_run(row) for row in rows]


def standing(db: sqlite3.Connection, timer_id: str) -> list[TimerRun]:
    """As the port's `standing_runs`; the literals are those of the partial index."""
    newest = runs(db, timer_id, 1)
    where = "WHERE timer = ? AND state IN ('queued', 'open', 'blocked') ORDER BY due DESC"
    under_way = [_run(row) for row in db.execute(_RUN + where, (timer_id,))]
    return under_way if under_way[:1] == newest else newest + under_way


def open_runs(db: sqlite3.Connection, thread_id: str) -> list[TimerRun]:
    """As the port's `open_runs`; the literals are those of the partial index."""
    where = "WHERE thread = ? AND state IN ('open', 'blocked') ORDER BY at, timer, due"
    return [_run(row) for row in db.execute(_RUN + where, (thread_id,))]


def run_by(db: sqlite3.Connection, column: str, value: str) -> TimerRun | None:
    """The run with this value in `column`, which is a literal of our own code."""
    row = db.execute(_RUN + f"WHERE {column} = ? LIMIT 1", (value,)).fetchone()
    return None if row is None else _run(row)


def _timer(row: sqlite3.Row) -> Timer:
    columns = dict(row)
    return Timer(**columns | {"plan": load(columns["plan"]), "state": TimerState(columns["state"])})


def _run(row: sqlite3.Row) -> TimerRun:
    columns = dict(row)
    return TimerRun(**columns | {"state": RunState(columns["state"]), "nudged": bool(columns["nudged"])})
