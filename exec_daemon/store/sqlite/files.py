"""The database's file: made whole or not at all, opened only after the check, its connections set up."""

from __future__ import annotations

import errno
import os
import sqlite3
from pathlib import Path
from typing import Final

from exec_daemon.store.sqlite import schema
from exec_daemon.store.sqlite.check import APPLICATION_ID, check
from exec_daemon.store.sqlite.faults import corrupt, os_fault, store_fault

# Readers and a checkpoint may meet for a moment; nothing of ours holds a lock anywhere near this long.
_BUSY_TIMEOUT_S: Final = 5.0

# A burst of writes leaves a long log; what is over this is given back at the next checkpoint.
_MOST_BYTES_OF_IDLE_LOG: Final = 64 * 1024 * 1024

# FULL: in WAL mode only this syncs at every commit, so that what was acknowledged survives a loss of power.
_WRITER: Final = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
    "PRAGMA trusted_schema = OFF",
    f"PRAGMA journal_size_limit = {_MOST_BYTES_OF_IDLE_LOG}",
)
# What a file is made with and keeps. Incremental: what retention frees can be given back in small pieces. It
# has to come first, before anything is written.
_BIRTH: Final = ("PRAGMA auto_vacuum = INCREMENTAL", f"PRAGMA application_id = {APPLICATION_ID}")
_READER: Final = ("PRAGMA query_only = ON", "PRAGMA trusted_schema = OFF")


def open_database(path: Path) -> sqlite3.Connection:
    """The writer's connection, the file made or migrated as needed. The caller owns the database."""
    try:
        if path.exists():
            _check_writable(path)
            check(path, schema.newest())
        else:
            _create(path)
        return _open_current(path)
    except sqlite3.Error as fault:
        raise store_fault(fault, path) or corrupt(path, str(fault)) from fault
    except OSError as fault:
        raise os_fault(fault, path) from fault


def _open_current(path: Path) -> sqlite3.Connection:
    db = _connect(path, "rw", _WRITER)
    try:
        schema.migrate(db)
    except BaseException:
        db.close()
        raise
    return db


def open_reader(path: Path) -> sqlite3.Connection:
    """A connection that cannot write. It may be used in any thread, in one at a time."""
    return _connect(path, "ro", _READER)


def _connect(path: Path, mode: str, pragmas: tuple[str, ...]) -> sqlite3.Connection:
    db = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}",
        uri=True,
        isolation_level=None,
        check_same_thread=False,
        timeout=_BUSY_TIMEOUT_S,
    )
    db.row_factory = sqlite3.Row
    for pragma in pragmas:
        db.execute(pragma)
    return db


def _check_writable(path: Path) -> None:
    for needed in (path.parent, path):
        if not os.access(needed, os.W_OK):
            raise PermissionError(errno.EACCES, "no permission to write", str(needed))


def _create(path: Path) -> None:
    """Builds the database under another name, then renames it: no crash leaves half a database.

    A log without its database is refused: SQLite would replay it into the new file.
    """
    if path.with_name(path.name + "-wal").exists():
        raise corrupt(path, "the database is gone, its log is still there")
    draft = path.with_name(path.name + ".new")
    for suffix in ("", "-wal", "-shm"):
        draft.with_name(draft.name + suffix).unlink(missing_ok=True)
    os.close(os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    db = _connect(draft, "rw", (*_BIRTH, *_WRITER))
    try:
        schema.migrate(db)
    finally:
        db.close()
    _sync(draft)
    draft.rename(path)
    _sync(path.parent)


def _sync(path: Path) -> None:
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
