"""Threads and messages in SQL. Writes take times and ids from their caller and return their news."""

from __future__ import annotations

import sqlite3
from operator import attrgetter

from exec_daemon.store.errors import Exists, NoSuchThread
from exec_daemon.store.feed import message_topics
from exec_daemon.store.sqlite.statements import insert, select
from exec_daemon.store.sqlite.writer import Written
from exec_daemon.store.values import Appended, NewThread
from messaging import AuthorKind, Message, MessageKind, NewMessage, Thread

# What a message has from its sender, and what the store gives it.
_SENT = ("thread", "author", "author_kind", "kind", "body", "in_reply_to", "job_id")
_GIVEN = ("id", "seq", "created_at")
_INSERT_MESSAGE = insert("messages", (*_GIVEN, *_SENT, "key"))
_INSERT_THREAD = insert("threads", ("id", "title", "agent", "created_at", "active_at"))
_MESSAGE = select("messages", (*_GIVEN, *_SENT, "position"))
_THREAD = select(
    "threads",
    (
        "id",
        "title",
        "agent",
        "created_at",
        "last_seq",
        "CASE WHEN last_seq > 0 THEN active_at END AS last_at",
    ),
)

_sent_and_key = attrgetter(*_SENT, "key")


def create(db: sqlite3.Connection, new: NewThread, at: str) -> Written[Thread]:
    """Raises `Exists`."""
    try:
        db.execute(_INSERT_THREAD, (new.id, new.title, new.agent, at, at))
    except sqlite3.IntegrityError:
        raise Exists(f"there is a thread {new.id!r} already", new.id) from None
    return Written(Thread(id=new.id, title=new.title, agent=new.agent, created_at=at))


def append(db: sqlite3.Connection, new: NewMessage, message_id: str, at: str) -> Written[Appended]:
    """Raises `NoSuchThread`, and `Exists` for an id that is taken."""
    if new.key is not None:
        earlier = db.execute(_MESSAGE + "WHERE thread = ? AND key = ?", (new.thread, new.key)).fetchone()
        if earlier is not None:
            return Written(Appended(_message(earlier), replayed=True))
    seq = _next_seq(db, new.thread, at)
    try:
        done = db.execute(_INSERT_MESSAGE, (message_id, seq, at, *_sent_and_key(new)))
    except sqlite3.IntegrityError:
        raise Exists(f"there is a message {message_id!r} already", message_id) from None
    message = new.appended(message_id, seq=seq, position=done.lastrowid or 0, created_at=at)
    return Written(Appended(message), message_topics(message))


def _next_seq(db: sqlite3.Connection, thread_id: str, at: str) -> int:
    row = db.execute(
        "UPDATE threads SET last_seq = last_seq + 1, active_at = ? WHERE id = ? RETURNING last_seq",
        (at, thread_id),
    ).fetchone()
    if row is None:
        raise NoSuchThread(f"there is no thread {thread_id!r}", thread_id)
    return int(row["last_seq"])


def thread(db: sqlite3.Connection, thread_id: str) -> Thread | None:
    """As the port's `thread`."""
    row = db.execute(_THREAD + "WHERE id = ?", (thread_id,)).fetchone()
    return None if row is None else Thread(**row)


def threads(db: sqlite3.Connection, agent: str | None, limit: int) -> list[Thread]:
    """As the port's `threads`."""
    where = "" if agent is None else "WHERE agent = :agent "
    rows = db.execute(
        _THREAD + where + "ORDER BY active_at DESC, number DESC LIMIT :limit",
        {"agent": agent, "limit": limit},
    )
    return [Thread(**row) for row in rows]


def message(db: sqlite3.Connection, message_id: str) -> Message | None:
    """As the port's `message`."""
    row = db.execute(_MESSAGE + "WHERE id = ?", (message_id,)).fetchone()
    return None if row is None else _message(row)


def messages(db: sqlite3.Connection, thread_id: str, after: int, limit: int) -> list[Message]:
    """As the port's `messages`."""
    rows = db.execute(
        _MESSAGE + "WHERE thread = ? AND seq > ? ORDER BY seq LIMIT ?", (thread_id, after, limit)
    )
    return [_message(row) for row in rows]


def replies(db: sqlite3.Connection, after: int, limit: int) -> list[Message]:
    """As the port's `replies`; the literals are those of the partial index."""
    rows = db.execute(
        _MESSAGE + "WHERE author_kind = 'agent' AND kind = 'text' AND position > ? ORDER BY position LIMIT ?",
        (after, limit),
    )
    return [_message(row) for row in rows]


def last_position(db: sqlite3.Connection) -> int:
    """As the port's `last_position`."""
    return int(db.execute("SELECT coalesce(max(position), 0) FROM messages").fetchone()[0])


def _message(row: sqlite3.Row) -> Message:
    columns = dict(row)
    columns["author_kind"] = AuthorKind(columns["author_kind"])
    columns["kind"] = MessageKind(columns["kind"])
    return Message(**columns)
