"""Answers to RPC requests, and RPC tasks, in SQL."""

from __future__ import annotations

import sqlite3
from operator import attrgetter

from exec_daemon.store.json_text import dump, load
from exec_daemon.store.rpc_values import RpcAnswer, RpcTask
from exec_daemon.store.sqlite.statements import insert, select
from exec_daemon.store.sqlite.writer import Written

_ANSWER = select("rpc_answers", ("identity", "id", "digest", "answer", "at"))
_KEEP_ANSWER = (
    insert("rpc_answers", ("identity", "id", "digest", "answer", "at"))
    + " ON CONFLICT (identity, id) DO UPDATE SET digest = excluded.digest, answer = excluded.answer,"
    + " at = excluded.at"
)
_DROP_OLD = "DELETE FROM rpc_answers WHERE identity = ? AND at < ?"
# The age of the first one too many; no row where there are not so many.
_DROP_MANY = """
    DELETE FROM rpc_answers WHERE identity = :identity AND at <= (
        SELECT at FROM rpc_answers WHERE identity = :identity ORDER BY at DESC LIMIT 1 OFFSET :most
    )
"""
_TASK_COLUMNS = ("identity", "id", "provider", "model", "folder", "state")
_TASK = select("rpc_tasks", _TASK_COLUMNS)
_KEEP_TASK = (
    insert("rpc_tasks", _TASK_COLUMNS)
    + " ON CONFLICT (identity, id) DO UPDATE SET provider = excluded.provider, model = excluded.model,"
    + " folder = excluded.folder, state = excluded.state"
)

_values = attrgetter(*_TASK_COLUMNS)


def answer(db: sqlite3.Connection, identity: str, request_id: str) -> RpcAnswer | None:
    """As the port's `rpc_answer`."""
    row = db.execute(_ANSWER + "WHERE identity = ? AND id = ?", (identity, request_id)).fetchone()
    return None if row is None else RpcAnswer(**{**row, "answer": load(row["answer"])})


def keep_answer(db: sqlite3.Connection, kept: RpcAnswer, since: str, most: int) -> Written[None]:
    """As the port's `keep_rpc_answer`."""
    db.execute(_KEEP_ANSWER, (kept.identity, kept.id, kept.digest, dump(kept.answer), kept.at))
    db.execute(_DROP_OLD, (kept.identity, since))
    db.execute(_DROP_MANY, {"identity": kept.identity, "most": most})
    return Written(None)


def tasks(db: sqlite3.Connection, identity: str) -> list[RpcTask]:
    """As the port's `rpc_tasks`."""
    return [RpcTask(**row) for row in db.execute(_TASK + "WHERE identity = ? ORDER BY id", (identity,))]


def keep_task(db: sqlite3.Connection, task: RpcTask) -> Written[None]:
    """As the port's `keep_rpc_task`."""
    db.execute(_KEEP_TASK, _values(task))
    return Written(None)
