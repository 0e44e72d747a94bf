"""Faults of SQLite and of the operating system, as the store's typed errors. Two tables, no branches."""

from __future__ import annotations

import errno
import os
import sqlite3
from pathlib import Path
from typing import Final

from exec_daemon.store.errors import (
    StoreCorrupt,
    StoreError,
    StoreFailed,
    StoreFull,
    StoreReadOnly,
)

READ_ONLY: Final = "{path} cannot be written: check the owner and permissions of its folder, or remount it"
FULL: Final = "no space is left for {path}: free some, then send the call again"
CORRUPT: Final = (
    "{path} is damaged ({fault}); nothing was changed. Stop the daemon, keep a copy of the file, and put "
    "back a backup or move the file away to begin with an empty store"
)
FAILED: Final = "{path} cannot be used now: {fault}"

_Kind = tuple[type[StoreError], str]

# Primary result codes (sqlite.org/rescode.html). What is not here is the fault of one statement.
_BY_RESULT_CODE: Final[dict[int, _Kind]] = {
    sqlite3.SQLITE_READONLY: (StoreReadOnly, READ_ONLY),
    sqlite3.SQLITE_PERM: (StoreReadOnly, READ_ONLY),
    sqlite3.SQLITE_FULL: (StoreFull, FULL),
    sqlite3.SQLITE_CORRUPT: (StoreCorrupt, CORRUPT),
    sqlite3.SQLITE_NOTADB: (StoreCorrupt, CORRUPT),
    sqlite3.SQLITE_IOERR: (StoreFailed, FAILED),
    sqlite3.SQLITE_CANTOPEN: (StoreFailed, FAILED),
    sqlite3.SQLITE_BUSY: (StoreFailed, FAILED),
    sqlite3.SQLITE_LOCKED: (StoreFailed, FAILED),
    sqlite3.SQLITE_PROTOCOL: (StoreFailed, FAILED),
    sqlite3.SQLITE_NOMEM: (StoreFailed, FAILED),
}

# Codes that stand for many causes; the disk itself then says whether it is full or read-only.
_VAGUE: Final = frozenset({sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN})

_BY_ERRNO: Final[dict[int, _Kind]] = {
    errno.EROFS: (StoreReadOnly, READ_ONLY),
    errno.EACCES: (StoreReadOnly, READ_ONLY),
    errno.EPERM: (StoreReadOnly, READ_ONLY),
    errno.ENOSPC: (StoreFull, FULL),
    errno.EDQUOT: (StoreFull, FULL),
    errno.EFBIG: (StoreFull, FULL),
}

# The low byte of an extended result code is its primary code.
_PRIMARY: Final = 0xFF


def store_fault(fault: sqlite3.Error, path: Path) -> StoreError | None:
    """The typed error for a fault that concerns the whole store; None when one statement is at fault."""
    code = getattr(fault, "sqlite_errorcode", 0) & _PRIMARY
    if code not in _BY_RESULT_CODE:
        return None
    of_disk = _state_of_disk(path) if code in _VAGUE else None
    kind, message = of_disk or _BY_RESULT_CODE[code]
    return kind(message.format(path=path, fault=fault), str(path))


def any_fault(fault: sqlite3.Error, path: Path) -> StoreError:
    """The typed error for a fault that nothing else is to blame for."""
    typed = store_fault(fault, path) or StoreFailed(FAILED.format(path=path, fault=fault), str(path))
    typed.__cause__ = fault
    return typed


def _state_of_disk(path: Path) -> _Kind | None:
    try:
        disk = os.statvfs(path.parent)
    except OSError:
        return None
    if disk.f_flag & os.ST_RDONLY:
        return StoreReadOnly, READ_ONLY
    return (StoreFull, FULL) if disk.f_bavail == 0 else None


def os_fault(fault: OSError, path: Path) -> StoreError:
    """The typed error for a fault of the operating system."""
    kind, message = _BY_ERRNO.get(fault.errno or 0, (StoreFailed, FAILED))
    return kind(message.format(path=path, fault=fault.strerror or fault), str(path))


def corrupt(path: Path, fault: str) -> StoreCorrupt:
    """The error for a file that is found damaged."""
    return StoreCorrupt(CORRUPT.format(path=path, fault=fault), str(path))
