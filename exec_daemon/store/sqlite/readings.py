"""How far readers have read, in SQL."""

from __future__ import annotations

import sqlite3

from exec_daemon.store.errors import NoSuchThread
from exec_daemon.store.readings import Reading
from exec_daemon.store.sqlite.statements import insert, select
from exec_daemon.store.sqlite.writer import Written

_READING = select("readings", ("reader", "seq", "at"))
_MARK = (
    insert("readings", ("thread", "reader", "seq", "at"))
    + " ON CONFLICT (thread, reader) DO UPDATE SET seq = excluded.seq, at = excluded.at"
    + " WHERE excluded.seq > readings.seq"
)


def mark(db: sqlite3.Connection, thread_id: str, reader: str, seq: int, at: str) -> Written[Reading]:
    """As the port's `mark_read`."""
    thread = db.execute("SELECT last_seq FROM threads WHERE id = ?", (thread_id,)).fetchone()
    if thread is None:
        raise NoSuchThread(f"there is no thread {thread_id!r}", thread_id)
    db.execute(_MARK, (thread_id, reader, min(seq, thread["last_seq"]), at))
    row = db.execute(_READING + "WHERE thread = ? AND reader = ?", (thread_id, reader)).fetchone()
    return Written(Reading(**row))


def readings(db: sqlite3.Connection, thread_id: str) -> list[Reading]:
    """As the port's."""
    rows = db.execute(_READING + "WHERE thread = ? ORDER BY reader", (thread_id,))
    return [Reading(**row) for row in rows]
