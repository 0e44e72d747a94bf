"""Readers: a few threads with a read-only connection each, so that the event loop never waits for a disk.

WAL lets them read beside the writer. Each read sees what was committed when it began, and so everything
that was acknowledged before it.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, TypeVar

from exec_daemon.store.sqlite.faults import any_fault
from exec_daemon.store.sqlite.files import open_reader

T = TypeVar("T")
Read = Callable[[sqlite3.Connection], T]

# One long list must not hold up the next look-up; more threads would only queue for the interpreter.
_READERS: Final = 4


class Reader:
    """Owns its connections from construction to `close()`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._local = threading.local()
        self._opened: list[sqlite3.Connection] = []
        self._threads = ThreadPoolExecutor(_READERS, thread_name_prefix="store-reader")

    async def read(self, read: Read[T]) -> T:
        """The value of `read`, from one consistent state of the database."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, self._do, read)

    def _do(self, read: Read[T]) -> T:
        try:
            db = self._connection()
            db.execute("BEGIN")
            try:
                return read(db)
            finally:
                if db.in_transaction:
                    db.execute("ROLLBACK")
        except sqlite3.Error as fault:
            raise any_fault(fault, self._path) from fault

    def _connection(self) -> sqlite3.Connection:
        db: sqlite3.Connection | None = getattr(self._local, "db", None)
        if db is None:
            db = self._local.db = open_reader(self._path)
            self._opened.append(db)
        return db

    async def close(self) -> None:
        """Waits for the reads under way, then closes the connections."""
        await asyncio.to_thread(self._threads.shutdown)
        for db in self._opened:
            db.close()
