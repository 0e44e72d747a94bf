"""Faults below the store reach the caller as typed errors that say the way out."""

from __future__ import annotations

import errno
import os
import sqlite3
from pathlib import Path

import pytest

from exec_daemon.store import (
    StoreCorrupt,
    StoreError,
    StoreFailed,
    StoreFull,
    StoreReadOnly,
    StoreUnavailable,
    open_store,
)
from exec_daemon.store.sqlite.faults import os_fault, store_fault
from tests.contracts.samples import message, thread

PAGE_BYTES = 4096


def sqlite_fault(code: int) -> sqlite3.Error:
    fault = sqlite3.OperationalError("what SQLite says")
    fault.sqlite_errorcode = code
    return fault


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (sqlite3.SQLITE_FULL, StoreFull),
        (sqlite3.SQLITE_READONLY, StoreReadOnly),
        (sqlite3.SQLITE_READONLY_DBMOVED, StoreReadOnly),
        (sqlite3.SQLITE_IOERR_FSYNC, StoreFailed),
        (sqlite3.SQLITE_CANTOPEN, StoreFailed),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, StoreFailed),
        (sqlite3.SQLITE_CORRUPT_INDEX, StoreCorrupt),
        (sqlite3.SQLITE_NOTADB, StoreCorrupt),
    ],
)
def test_a_fault_of_the_whole_store_has_a_type(tmp_path: Path, code: int, kind: type[StoreError]) -> None:
    fault = store_fault(sqlite_fault(code), tmp_path / "store.db")
    assert type(fault) is kind
    assert fault.subject == str(tmp_path / "store.db")
    assert fault.subject in str(fault)


@pytest.mark.parametrize(
    "code", [0, sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_TOOBIG]
)
def test_the_fault_of_one_statement_is_none_of_the_store(tmp_path: Path, code: int) -> None:
    assert store_fault(sqlite_fault(code), tmp_path / "store.db") is None


def test_a_vague_fault_stays_vague_where_the_disk_cannot_be_asked(tmp_path: Path) -> None:
    gone = tmp_path / "gone" / "store.db"
    assert type(store_fault(sqlite_fault(sqlite3.SQLITE_IOERR), gone)) is StoreFailed


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (errno.ENOSPC, StoreFull),
        (errno.EDQUOT, StoreFull),
        (errno.EROFS, StoreReadOnly),
        (errno.EACCES, StoreReadOnly),
        (errno.EIO, StoreFailed),
    ],
)
def test_a_fault_of_the_system_has_a_type(number: int, kind: type[StoreError]) -> None:
    fault = os_fault(OSError(number, os.strerror(number)), Path("/state/store.db"))
    assert type(fault) is kind
    assert isinstance(fault, StoreUnavailable)


async def test_damage_while_the_store_is_open_is_named(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    store = await open_store(path)
    await store.create_thread(thread("a"))
    await store.append(message("a", "x" * PAGE_BYTES * 20))
    await store.close()
    store = await open_store(path)
    overwrite(path)
    with pytest.raises(StoreCorrupt, match="damaged"):
        await store.messages("a")
    await store.close()


def overwrite(path: Path) -> None:
    """All pages but the first."""
    with path.open("r+b") as file:
        file.seek(PAGE_BYTES)
        file.write(b"\xff" * (path.stat().st_size - PAGE_BYTES))


async def test_a_folder_that_cannot_hold_a_lock_is_named(tmp_path: Path) -> None:
    (tmp_path / "store.db.lock").mkdir()
    with pytest.raises(StoreFailed, match=r"store\.db\.lock"):
        await open_store(tmp_path / "store.db")
