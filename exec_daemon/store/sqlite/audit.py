"""The audit in SQL: the chain on disk. Triggers refuse what would change it (store/sql/0009)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import asdict

from exec_daemon.store.audit_chain import COVERED, Checker, Link, covered
from exec_daemon.store.sqlite.statements import insert_all, select
from exec_daemon.store.sqlite.writer import Written
from exec_daemon.store.values import AuditLine, NewAuditLine

_COLUMNS = ("seq", *COVERED, "hash")
_LINE = select("audit", _COLUMNS)
_LAST = "SELECT seq FROM sqlite_sequence WHERE name = 'audit'"
_LAST_HASH = "SELECT hash FROM audit ORDER BY seq DESC LIMIT 1"
_END = f"SELECT ({_LAST}) AS seq, coalesce(({_LAST_HASH}), (SELECT hash FROM audit_start)) AS hash"  # noqa: S608 - literals only
# How many lines one look reads: some 5 ms, in which the log cannot be given back.
SLICE = 1000


def end(db: sqlite3.Connection) -> Link:
    """The number that was given out last, and the hash of the last line.

    The number is not taken from that line: where lines at the end are gone, the gap must stay.
    """
    row = db.execute(_END).fetchone()
    return Link(row["seq"] or 0, row["hash"])


def append(db: sqlite3.Connection, lines: Iterable[NewAuditLine]) -> None:
    """Adds lines to the chain, in their order."""
    link = end(db)
    insert_all(db, "audit", _COLUMNS, (_row(link, line) for line in lines))


def _row(link: Link, line: NewAuditLine) -> tuple[object, ...]:
    values = covered(line)
    hashed = link.next(link.seq + 1, *values)
    return (link.seq, *values, hashed)


def note(db: sqlite3.Connection, new: NewAuditLine) -> Written[AuditLine]:
    """As the port's `note`."""
    link = end(db)
    insert_all(db, "audit", _COLUMNS, [_row(link, new)])
    return Written(AuditLine(**asdict(new), seq=link.seq, hash=link.hash))


def audit(db: sqlite3.Connection, limit: int, before: int | None) -> list[AuditLine]:
    """As the port's `audit`."""
    most = 2**63 - 1 if before is None else before
    return [
        AuditLine(**row)
        for row in db.execute(_LINE + "WHERE seq < ? ORDER BY seq DESC LIMIT ?", (most, limit))
    ]


def start(db: sqlite3.Connection) -> Link:
    """Where the chain starts: behind this line."""
    row = db.execute("SELECT seq, hash FROM audit_start").fetchone()
    return Link(row["seq"], row["hash"])


def last(db: sqlite3.Connection) -> int:
    """The highest number that was ever given out; SQLite keeps it beside the table."""
    row = db.execute(_LAST).fetchone()
    return 0 if row is None else int(row["seq"])


def checker(db: sqlite3.Connection, noted: Mapping[int, str] | None) -> Checker:
    """One that stands at the start of the chain."""
    return Checker(start(db), dict(noted or {}))


def check_slice(db: sqlite3.Connection, checker: Checker) -> bool:
    """Feeds the next lines to `checker`; False when there are no more, or none that matter."""
    rows = db.execute(_LINE + "WHERE seq > ? ORDER BY seq LIMIT ?", (checker.end.seq, SLICE))
    count = 0
    for row in rows:
        checker.feed(AuditLine(**row))
        count += 1
    return count == SLICE and checker.broken is None
