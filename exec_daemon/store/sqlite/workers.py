"""Workers in SQL. A step puts its parts where each of them has its own file."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from dataclasses import fields
from operator import attrgetter

from exec_daemon.store.errors import Exists, Outdated
from exec_daemon.store.sqlite import threads, timers
from exec_daemon.store.sqlite.statements import insert, select
from exec_daemon.store.sqlite.writer import Written
from exec_daemon.store.worker_budget import check_budget
from exec_daemon.store.worker_port import WORKERS
from exec_daemon.store.worker_values import Budget, Worker, WorkerState, WorkerStep

_COLUMNS = tuple(field.name for field in fields(Worker))
_INSERT = insert("workers", _COLUMNS)
_WORKER = select("workers", _COLUMNS)
_UPDATE = f"UPDATE workers SET {', '.join(f'{name} = ?' for name in _COLUMNS)} WHERE id = ? AND version = ?"  # noqa: S608 - literals only
_ALIVE = "state NOT IN ('ended', 'failed')"
_COUNTS = f"""
    SELECT (SELECT count(*) FROM workers WHERE root = :root AND {_ALIVE}) AS alive,
           (SELECT count(*) FROM workers WHERE root = :root AND created_at >= :since) AS started,
           (SELECT count(*) FROM workers WHERE template = :template AND {_ALIVE}) AS of_template
"""  # noqa: S608 - literals only

_values = attrgetter(*_COLUMNS)


def step(db: sqlite3.Connection, wanted: WorkerStep, at: str) -> Written[bool]:
    """As the port's `step_workers`; what did not fit leaves no trace of its other parts."""
    db.execute("SAVEPOINT workers")
    try:
        news = take(db, wanted, at)
    except Outdated:
        db.execute("ROLLBACK TO workers")
        return Written(value=False)
    finally:
        db.execute("RELEASE workers")
    return Written(value=True, news=news)


def take(db: sqlite3.Connection, wanted: WorkerStep, at: str) -> tuple[str, ...]:
    """The step as an effect of a job: the topics that have news. Raises `Outdated`."""
    if wanted.added and wanted.budget is not None:
        _check_budget(db, wanted.added, wanted.budget)
    return (WORKERS, *_news(db, wanted, at))


def _news(db: sqlite3.Connection, wanted: WorkerStep, at: str) -> Iterator[str]:
    for one in wanted.steps:
        yield from timers.take(db, one, at)
    for worker in wanted.added:
        _insert(db, worker)
    for worker in wanted.changed:
        _update(db, worker)
    for post in wanted.posts:
        yield from threads.append(db, post.message, post.id, at).news


def _insert(db: sqlite3.Connection, worker: Worker) -> None:
    try:
        db.execute(_INSERT, _values(worker))
    except sqlite3.IntegrityError:
        raise Exists(f"there is a worker {worker.id!r} already", worker.id) from None


def _update(db: sqlite3.Connection, worker: Worker) -> None:
    done = db.execute(_UPDATE, (*_values(worker), worker.id, worker.version - 1))
    if done.rowcount != 1:
        raise Outdated(f"the worker {worker.id!r} changed meanwhile", worker.id)


def _check_budget(db: sqlite3.Connection, added: tuple[Worker, ...], budget: Budget) -> None:
    first = added[0]
    asked = {"root": first.root, "since": budget.since, "template": first.template}
    check_budget(budget, first, len(added), **dict(db.execute(_COUNTS, asked).fetchone()))


def beat(db: sqlite3.Connection, worker_id: str, at: str) -> Written[None]:
    """As the port's `beat_worker`."""
    db.execute("UPDATE workers SET heartbeat_at = ? WHERE id = ?", (at, worker_id))
    return Written(None)


def worker(db: sqlite3.Connection, worker_id: str) -> Worker | None:
    """As the port's `worker`."""
    row = db.execute(_WORKER + "WHERE id = ?", (worker_id,)).fetchone()
    return None if row is None else _worker(row)


def workers(
    db: sqlite3.Connection, owner: str | None, states: tuple[WorkerState, ...], limit: int
) -> list[Worker]:
    """As the port's `workers`."""
    rows = db.execute(
        _WORKER + "WHERE (:owner IS NULL OR owner = :owner) "
        "AND instr(:states, ' ' || state || ' ') > 0 ORDER BY number DESC LIMIT :limit",
        {"owner": owner, "states": f" {' '.join(states)} ", "limit": limit},
    )
    return [_worker(row) for row in rows]


def _worker(row: sqlite3.Row) -> Worker:
    columns = dict(row)
    return Worker(**columns | {"state": WorkerState(columns["state"])})
