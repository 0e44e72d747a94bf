"""What the host must not forget: groups, files that had their effect, follow-ups that are under way (T-42).

One SQLite file of the host's own, which no container sees. Each method is one transaction.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import RLock
from types import TracebackType
from typing import Any, Final, Literal, Self

from harvester.container.groups import Group, Groups

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS groups (jid TEXT PRIMARY KEY, document TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS files (
    lane TEXT NOT NULL, folder TEXT NOT NULL, name TEXT NOT NULL, sha256 TEXT NOT NULL,
    at_ms INTEGER NOT NULL, plan TEXT, outcome TEXT, detail TEXT,
    PRIMARY KEY (lane, folder, name, sha256)
) STRICT, WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS follow_ups (
    number INTEGER PRIMARY KEY, lane TEXT NOT NULL, key TEXT NOT NULL, name TEXT NOT NULL, text TEXT NOT NULL,
    state TEXT NOT NULL, UNIQUE (lane, key), UNIQUE (lane, name)
) STRICT;
CREATE TABLE IF NOT EXISTS lanes (
    lane TEXT PRIMARY KEY, thread TEXT NOT NULL, is_task INTEGER NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS sessions (lane TEXT PRIMARY KEY, session TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS positions (name TEXT PRIMARY KEY, position INTEGER NOT NULL) STRICT;
"""
DONE: Final = "done"


@dataclass(frozen=True, slots=True)
class FileKey:
    """Which file: its lane, `messages` or `tasks`, its name as bytes can be shown, and what it holds."""

    lane: str
    folder: str
    name: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Entry:
    """When a file was first claimed, what it was decided to do, and what came of it.

    `outcome` is None, `done` or an error's code. A plan that stands is carried out and not decided again:
    what a task was cancelled for would not be found the second time.
    """

    at_ms: int
    plan: str | None
    outcome: str | None


@dataclass(frozen=True, slots=True)
class Waiting:
    """A follow-up that has not been answered yet. `key` is the id of the message that it tells, if any."""

    name: str
    text: str
    state: str
    key: str = ""


@dataclass(frozen=True, slots=True)
class Lane:
    """What a further lane of a group is for; `is_task`: a timer began its thread."""

    thread: str
    is_task: bool


class Ledger:
    """Usable from several threads; close it or use it as a context manager.

    `synchronous` as SQLite has it; OFF survives a kill of the process and no failure of power.
    """

    def __init__(self, file: Path, synchronous: Literal["FULL", "OFF"] = "FULL") -> None:
        self._lock = RLock()
        self._db = sqlite3.connect(file, isolation_level=None, check_same_thread=False, timeout=30)
        self._db.executescript(f"PRAGMA journal_mode = WAL; PRAGMA synchronous = {synchronous}; {_SCHEMA}")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    # Groups

    def groups(self) -> Groups:
        """All groups, in the order of their chats."""
        rows = self._all("SELECT document FROM groups ORDER BY jid")
        return Groups(Group(**json.loads(document)) for (document,) in rows)

    def put_group(self, group: Group) -> None:
        """Register a chat, or change what is known of it."""
        self._run("INSERT OR REPLACE INTO groups VALUES (?, ?)", group.jid, json.dumps(group.to_json()))

    # Files

    def claim(self, key: FileKey, at_ms: int) -> Entry:
        """Write down that the file is dealt with from now on; what is known of it if that was before."""
        where = (key.lane, key.folder, key.name, key.sha256)
        with self._transaction():
            self._run("INSERT OR IGNORE INTO files VALUES (?, ?, ?, ?, ?, NULL, NULL, NULL)", *where, at_ms)
            (row,) = self._all(
                "SELECT at_ms, plan, outcome FROM files WHERE (lane, folder, name, sha256) = (?, ?, ?, ?)",
                *where,
            )
        return Entry(*row)

    def plan(self, key: FileKey, plan: str) -> None:
        """Write down what it was decided to do."""
        where = (key.lane, key.folder, key.name, key.sha256)
        statement = "UPDATE files SET plan = ? WHERE (lane, folder, name, sha256) = (?, ?, ?, ?)"
        self._run(statement, plan, *where)

    def settle(self, key: FileKey, outcome: str, detail: str = "") -> None:
        """Write down what came of it (T-56)."""
        where = (key.lane, key.folder, key.name, key.sha256)
        self._run(
            "UPDATE files SET outcome = ?, detail = ? WHERE (lane, folder, name, sha256) = (?, ?, ?, ?)",
            outcome,
            detail,
            *where,
        )

    def outcomes(self, lane: str) -> list[tuple[str, str | None, str | None]]:
        """Name, outcome and detail of each file of a lane, in the order of their names."""
        return list(self._all("SELECT name, outcome, detail FROM files WHERE lane = ? ORDER BY name", lane))

    # Follow-ups

    def follow_up(self, lane: str, key: str) -> Waiting | None:
        """The one that this key stands for."""
        rows = self._all(
            "SELECT name, text, state, key FROM follow_ups WHERE (lane, key) = (?, ?)", lane, key
        )
        return Waiting(*rows[0]) if rows else None

    def add_follow_up(self, lane: str, key: str, name: str, text: str) -> None:
        """Decided: it will be sent. From here on it is published and never written anew."""
        self._run(
            "INSERT INTO follow_ups (lane, key, name, text, state) VALUES (?, ?, ?, ?, 'staged')",
            lane,
            key,
            name,
            text,
        )

    def unanswered(self, lane: str) -> list[Waiting]:
        """Those that no turn of the agent has named yet, in their order."""
        rows = self._all(
            "SELECT name, text, state, key FROM follow_ups "
            "WHERE lane = ? AND state <> 'answered' ORDER BY number",
            lane,
        )
        return [Waiting(*row) for row in rows]

    def mark(self, lane: str, names: Sequence[str], state: str) -> None:
        """`sent`: published. `answered`: in a turn that has ended; that is for good."""
        with self._transaction():
            for name in names:
                self._run(
                    "UPDATE follow_ups SET state = ? WHERE (lane, name) = (?, ?) AND state <> 'answered'",
                    state,
                    lane,
                    name,
                )

    def last_ms(self, lane: str) -> int | None:
        """When something was last said to the lane or heard from it: the names of follow-ups tell it."""
        rows = self._all(
            "SELECT max(ms) FROM (SELECT max(name) + 0 AS ms FROM follow_ups WHERE lane = ? "
            "UNION ALL SELECT max(at_ms) FROM files WHERE lane = ?)",
            lane,
            lane,
        )
        return None if rows[0][0] is None else int(rows[0][0])

    # Lanes, sessions and positions

    def lane(self, lane: str) -> Lane | None:
        """The thread that a lane was made for; None for a group's own."""
        rows = self._all("SELECT thread, is_task FROM lanes WHERE lane = ?", lane)
        return Lane(rows[0][0], bool(rows[0][1])) if rows else None

    def put_lane(self, lane: str, thread: str, *, is_task: bool) -> None:
        """A lane for a thread beside the agent's home; the first word on it stands."""
        self._run("INSERT OR IGNORE INTO lanes VALUES (?, ?, ?)", lane, thread, is_task)

    def session(self, lane: str) -> str | None:
        """The session that the lane's agent goes on with."""
        rows = self._all("SELECT session FROM sessions WHERE lane = ?", lane)
        return str(rows[0][0]) if rows else None

    def set_session(self, lane: str, session: str | None) -> None:
        """Remember it, or with None begin anew the next time."""
        with self._transaction():
            self._run("DELETE FROM sessions WHERE lane = ?", lane)
            if session is not None:
                self._run("INSERT INTO sessions VALUES (?, ?)", lane, session)

    def forget(self, lane: str) -> None:
        """All of the lane but how far its thread has been told, so that nothing is told twice."""
        with self._transaction():
            for table in ("files", "follow_ups", "lanes", "sessions"):
                self._run(f"DELETE FROM {table} WHERE lane = ?", lane)  # noqa: S608 - literals only

    def position(self, name: str) -> int:
        """How far something has got; 0 at the very start."""
        rows = self._all("SELECT position FROM positions WHERE name = ?", name)
        return int(rows[0][0]) if rows else 0

    def set_position(self, name: str, position: int) -> None:
        """Remember it."""
        self._run("INSERT OR REPLACE INTO positions VALUES (?, ?)", name, position)

    def _run(self, statement: str, *values: object) -> None:
        with self._lock:
            self._db.execute(statement, values)

    def _all(self, statement: str, *values: object) -> list[Any]:
        with self._lock:
            return self._db.execute(statement, values).fetchall()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        with self._lock:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._db.execute("ROLLBACK")
                raise
            self._db.execute("COMMIT")
