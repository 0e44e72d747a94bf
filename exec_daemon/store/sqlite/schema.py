"""The schema: numbered SQL files, applied in order, each in a transaction of its own.

`PRAGMA user_version` holds the number of the last one. A fresh database runs through all of them, so that
a fresh schema and a migrated one are the same.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from importlib.resources import files

from exec_daemon.store.audit_chain import Link


@dataclass(frozen=True, slots=True)
class Step:
    """One file: `0001_words.sql` brings a database to version 1."""

    version: int
    sql: str


def steps() -> tuple[Step, ...]:
    """All steps, in order."""
    folder = files("exec_daemon.store") / "sql"
    found = sorted((file for file in folder.iterdir() if file.name.endswith(".sql")), key=lambda f: f.name)
    return tuple(Step(int(file.name.partition("_")[0]), file.read_text("utf-8")) for file in found)


def newest() -> int:
    """The version that this program writes."""
    return steps()[-1].version


def migrate(db: sqlite3.Connection, to: int | None = None) -> None:
    """Brings the database to version `to`, the newest by default; a crash leaves it at a step's end."""
    db.create_function("chained", -1, Link().next)
    present = int(db.execute("PRAGMA user_version").fetchone()[0])
    for step in steps():
        if present < step.version <= (step.version if to is None else to):
            db.executescript(f"BEGIN IMMEDIATE; {step.sql}; PRAGMA user_version = {step.version}; COMMIT;")
