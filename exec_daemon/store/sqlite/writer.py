"""The one writer: a thread that puts all writes that wait into one transaction (group commit).

A commit costs a sync of the disk, whatever it holds. While one group is being synced the next one gathers,
so that throughput grows with load and a lone write waits for nobody.

Rules:
1. A write that fails leaves no trace and does not touch its neighbours: the group is undone and done again,
   each of its writes in a savepoint of its own. Mostly none fails, and none has to pay for one. So a write
   may run more than once: it changes nothing but the file.
2. A future is resolved after COMMIT, never before; what was acknowledged is durable.
3. A fault of the whole store (disk full, I/O) undoes the group. Its writes are then tried one by one, so
   that one that does not fit takes no other down.
4. Writes happen in the order in which they were given.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, Final, Generic, TypeVar, cast

from exec_daemon.store.feed import Feed
from exec_daemon.store.sqlite.faults import any_fault, store_fault

T = TypeVar("T")

# A larger group would save little more per write, and make the first of it wait for the last.
MOST_IN_GROUP: Final = 512


@dataclass(frozen=True, slots=True)
class Written(Generic[T]):
    """What a write gives back: its value, and the topics to be told once it is durable."""

    value: T
    news: tuple[str, ...] = ()


Write = Callable[[sqlite3.Connection], Written[T]]
_End = Written[Any] | Exception


@dataclass(frozen=True, slots=True)
class _Waiting:
    write: Write[Any]
    future: asyncio.Future[Any]


class Writer:
    """Owns the writing connection from construction to `close()`; belongs to one event loop."""

    def __init__(
        self, db: sqlite3.Connection, path: Path, feed: Feed, *, most_in_group: int = MOST_IN_GROUP
    ) -> None:
        self._db = db
        self._path = path
        self._feed = feed
        self._most_in_group = most_in_group
        self._loop = asyncio.get_running_loop()
        self._queue: SimpleQueue[tuple[_Waiting, ...] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="store-writer", daemon=True)
        self._thread.start()

    async def write(self, write: Write[T]) -> T:
        """The value of `write`, after it is durable; or what it raised, with nothing changed."""
        (future,) = self.put(write)
        return await cast("asyncio.Future[T]", future)

    def put(self, *writes: Write[Any]) -> list[asyncio.Future[Any]]:
        """Their values to be; they are in one group, in this order."""
        waiting = tuple(_Waiting(write, self._loop.create_future()) for write in writes)
        self._queue.put(waiting)
        return [one.future for one in waiting]

    async def close(self) -> None:
        """Finishes what waits, then closes the connection."""
        self._queue.put(None)
        await asyncio.to_thread(self._thread.join)
        self._db.close()

    def _run(self) -> None:
        open_ = True
        while open_:
            group, open_ = self._next_group()
            if group:
                self._tell(group, self._commit(group))

    def _next_group(self) -> tuple[list[_Waiting], bool]:
        """Waits for a first write, takes what else waits; False when the writer is to end."""
        group: list[_Waiting] = []
        waiting = self._queue.get()
        try:
            while waiting is not None:
                group += waiting
                if len(group) >= self._most_in_group:
                    return group, True
                waiting = self._queue.get_nowait()
        except Empty:
            return group, True
        return group, False

    def _commit(self, group: list[_Waiting]) -> list[_End]:
        try:
            return self._together(group, lambda write: write(self._db))
        except Exception:  # noqa: BLE001 - whatever it is, whose it is shows when they are tried with care
            self._undo()
            return self._with_care(group)

    def _with_care(self, group: list[_Waiting]) -> list[_End]:
        try:
            return self._together(group, self._attempt)
        except sqlite3.Error as fault:
            self._undo()
            if len(group) == 1:
                return [any_fault(fault, self._path)]
            return [end for waiting in group for end in self._with_care([waiting])]

    def _together(self, group: list[_Waiting], attempt: Callable[[Write[Any]], _End]) -> list[_End]:
        self._db.execute("BEGIN IMMEDIATE")
        ends = [attempt(waiting.write) for waiting in group]
        self._db.execute("COMMIT")
        return ends

    def _attempt(self, write: Write[Any]) -> _End:
        self._db.execute("SAVEPOINT one")
        end: _End
        try:
            end = write(self._db)
        except Exception as fault:  # whatever it is, it belongs to the caller who waits for it
            if isinstance(fault, sqlite3.Error) and store_fault(fault, self._path):
                raise
            self._db.execute("ROLLBACK TO one")
            end = fault
        self._db.execute("RELEASE one")
        return end

    def _undo(self) -> None:
        """SQLite may have rolled back already; a rollback that fails must not end the thread."""
        with suppress(sqlite3.Error):
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")

    def _tell(self, group: list[_Waiting], ends: list[_End]) -> None:
        try:
            self._loop.call_soon_threadsafe(self._resolve, group, ends)
        except RuntimeError:  # the loop has closed: nobody waits any more
            return

    def _resolve(self, group: list[_Waiting], ends: list[_End]) -> None:
        """On the event loop. A caller that was cancelled is passed over; its news still goes out."""
        for waiting, end in zip(group, ends, strict=True):
            future = waiting.future
            if isinstance(end, Exception):
                if not future.done():
                    future.set_exception(end)
                continue
            if not future.done():
                future.set_result(end.value)
            self._feed.publish(end.news)
