"""Grants, approvals and marks in SQL."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from operator import attrgetter
from typing import Any

from exec_daemon.store import permission_lines
from exec_daemon.store.json_text import dump, load
from exec_daemon.store.permissions import Approval, ApprovalState, AskedCall, GrantRecord, Word
from exec_daemon.store.sqlite import audit, journal
from exec_daemon.store.sqlite.statements import insert, select
from exec_daemon.store.sqlite.writer import Written
from messaging import Job

_GRANT_COLUMNS = ("subject", "rules", "set_by", "set_at")
_GRANT = select("grants", _GRANT_COLUMNS)
_SET_GRANT = (
    insert("grants", _GRANT_COLUMNS)
    + " ON CONFLICT (subject) DO UPDATE SET rules = excluded.rules, set_by = excluded.set_by,"
    + " set_at = excluded.set_at"
)

_PLAIN = ("identity", "asker", "call_id", "op", "digest", "marked_by", "thread", "reply", "on_behalf_of")
_OWN = ("id", "asked_at", "expires_at", "state")
_LATER = ("decided_by", "decided_at", "reason", "job_id", "settled")
_ASK = insert("approvals", (*_OWN, *_PLAIN, "args", "side_effecting", "scopes"))
_APPROVAL = select("approvals", (*_OWN, *_PLAIN, "args", "side_effecting", "scopes", *_LATER))
_ANSWER = (
    "UPDATE approvals SET state = ?, decided_by = ?, decided_at = ?, reason = ? "
    "WHERE id = ? AND state = 'pending'"
)
_FORGET = "DELETE FROM approvals WHERE settled = 1 AND decided_at < ?"
_MARK = "INSERT OR IGNORE INTO chain_marks (identity, thread, mark, at) VALUES (?, ?, ?, ?)"
_MARKS = "SELECT DISTINCT mark FROM chain_marks WHERE identity = :identity"

_plain_values = attrgetter(*_PLAIN)


def grants(db: sqlite3.Connection) -> list[GrantRecord]:
    """As the port's."""
    return [_grant(row) for row in db.execute(_GRANT + "ORDER BY subject")]


def _grant(row: sqlite3.Row) -> GrantRecord:
    return GrantRecord(**{**row, "rules": load(row["rules"])})


def set_grant(
    db: sqlite3.Connection, subject: str, rules: Mapping[str, Any], by: str, at: str
) -> Written[GrantRecord]:
    """As the port's."""
    db.execute(_SET_GRANT, (subject, dump(rules), by, at))
    return Written(_grant(db.execute(_GRANT + "WHERE subject = ?", (subject,)).fetchone()))


def remove_grant(db: sqlite3.Connection, subject: str) -> Written[bool]:
    """As the port's."""
    return Written(db.execute("DELETE FROM grants WHERE subject = ?", (subject,)).rowcount == 1)


def ask(
    db: sqlite3.Connection, call: AskedCall, expires_at: str, approval_id: str, at: str
) -> Written[Approval | Job]:
    """As the port's. The journal is asked in the same transaction: a call that ran needs no word any more."""
    theirs = (call.identity, call.call_id)
    earlier = db.execute(_APPROVAL + "WHERE identity = ? AND call_id = ?", theirs).fetchone()
    if earlier is not None:
        return Written(_read(earlier))
    ran = db.execute("SELECT id FROM jobs WHERE identity = ? AND call_id = ? AND holds_call = 1", theirs)
    found = ran.fetchone()
    job = None if found is None else journal.job(db, found["id"])
    if job is not None:
        return Written(job)
    own = (approval_id, at, expires_at, ApprovalState.PENDING)
    rest = (dump(call.args), call.side_effecting, dump(list(call.scopes)))
    db.execute(_ASK, (*own, *_plain_values(call), *rest))
    made = _read(db.execute(_APPROVAL + "WHERE id = ?", (approval_id,)).fetchone())
    audit.append(db, [permission_lines.asked(made)])
    return Written(made)


def approval(db: sqlite3.Connection, approval_id: str) -> Approval | None:
    """As the port's."""
    row = db.execute(_APPROVAL + "WHERE id = ?", (approval_id,)).fetchone()
    return None if row is None else _read(row)


def approvals(
    db: sqlite3.Connection, state: ApprovalState | None, identity: str | None, limit: int
) -> list[Approval]:
    """As the port's."""
    wanted = {"state": state, "identity": identity}
    where = " AND ".join(f"{column} = :{column}" for column, value in wanted.items() if value is not None)
    rows = db.execute(
        _APPROVAL + (f"WHERE {where} " if where else "") + "ORDER BY number DESC LIMIT :limit",
        wanted | {"limit": limit},
    )
    return [_read(row) for row in rows]


def unsettled(db: sqlite3.Connection) -> list[Approval]:
    """As the port's."""
    return [_read(row) for row in db.execute(_APPROVAL + "WHERE settled = 0 ORDER BY number")]


def answer(db: sqlite3.Connection, approval_id: str, word: Word, at: str) -> Written[Approval | None]:
    """As the port's `answer_approval`."""
    counted = db.execute(_ANSWER, (word.state, word.by, at, word.reason, approval_id)).rowcount == 1
    found = approval(db, approval_id)
    if counted and found is not None:
        audit.append(db, [permission_lines.said(found)])
    return Written(found)


def link(db: sqlite3.Connection, approval_id: str, job_id: str) -> Written[None]:
    """As the port's `link_approval`."""
    db.execute("UPDATE approvals SET job_id = ? WHERE id = ?", (job_id, approval_id))
    return Written(None)


def settle(db: sqlite3.Connection, approval_id: str) -> Written[None]:
    """As the port's `settle_approval`."""
    db.execute("UPDATE approvals SET settled = 1 WHERE id = ?", (approval_id,))
    return Written(None)


def forget(db: sqlite3.Connection, before: str) -> Written[int]:
    """As the port's `forget_approvals`."""
    return Written(db.execute(_FORGET, (before,)).rowcount)


def add_mark(db: sqlite3.Connection, identity: str, thread: str, mark: str, at: str) -> Written[None]:
    """As the port's."""
    db.execute(_MARK, (identity, thread, mark, at))
    return Written(None)


def marks(db: sqlite3.Connection, identity: str, thread: str | None) -> list[str]:
    """As the port's."""
    there = "" if thread is None else " AND thread IN ('', :thread)"
    rows = db.execute(_MARKS + there + " ORDER BY mark", {"identity": identity, "thread": thread})
    return [row["mark"] for row in rows]


def _read(row: sqlite3.Row) -> Approval:
    columns = dict(row)
    call = AskedCall(
        **{name: columns[name] for name in _PLAIN},
        args=load(columns["args"]),
        side_effecting=bool(columns["side_effecting"]),
        scopes=tuple(load(columns["scopes"])),
    )
    own = {name: columns[name] for name in (*_OWN, *_LATER)}
    return Approval(
        **own | {"state": ApprovalState(own["state"]), "settled": bool(own["settled"])}, call=call
    )
