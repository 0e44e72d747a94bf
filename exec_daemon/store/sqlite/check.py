"""Is this file a database of ours, whole and not too new? Found out without writing a byte.

First the header (sqlite.org/fileformat2.html, section 1.3), read as plain bytes; then, through a read-only
connection, what only SQLite can tell.
"""

from __future__ import annotations

import sqlite3
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from exec_daemon.store.errors import StoreNewer
from exec_daemon.store.sqlite.faults import corrupt, os_fault, store_fault

# "INBD": tells our files from those of other programs.
APPLICATION_ID: Final = 0x494E4244

_MAGIC: Final = b"SQLite format 3\x00"
_HEADER_BYTES: Final = 100
# Offsets: page size 16, change counter 24, pages 28, user version 60, application id 68, valid-for 92.
_HEADER: Final = struct.Struct(">16sH6xII28xI4xI20xI")
# quick_check reads the whole file, about 1 GB in a second from the page cache. Above this size a start
# would wait noticeably; damage that the header does not show is then found by the query that meets it.
_MOST_BYTES_CHECKED: Final = 256 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class _Header:
    magic: bytes
    page_size: int
    change_counter: int
    pages: int
    user_version: int
    application_id: int
    valid_for: int

    @property
    def least_bytes(self) -> int:
        """How long the file must be. A page size of 1 means 65,536; old writers left `pages` stale."""
        page_bytes = 65536 if self.page_size == 1 else self.page_size
        return page_bytes * (self.pages if self.change_counter == self.valid_for else 1)


def check(path: Path, newest: int) -> None:
    """Raises `StoreCorrupt` or `StoreNewer` unless `path` is ours, whole, and of version `newest` at most."""
    try:
        size_bytes = path.stat().st_size
        with path.open("rb") as file:
            start = file.read(_HEADER_BYTES)
        logged = _has_log(path)
    except OSError as fault:
        raise os_fault(fault, path) from fault
    header = _header(path, start)
    if not logged and size_bytes < header.least_bytes:
        raise corrupt(path, f"truncated: {size_bytes} bytes of {header.least_bytes}")
    version = _look_inside(path, logged=logged, whole=size_bytes <= _MOST_BYTES_CHECKED)
    if version > newest:
        raise StoreNewer(
            f"{path} was written by a newer version (schema {version}, this one knows {newest}): "
            "upgrade, or use another state folder",
            str(path),
        )


def _has_log(path: Path) -> bool:
    log = path.with_name(path.name + "-wal")
    return log.exists() and log.stat().st_size > 0


def _header(path: Path, start: bytes) -> _Header:
    if len(start) < _HEADER_BYTES:
        raise corrupt(path, f"truncated: {len(start)} bytes are no database")
    header = _Header(*_HEADER.unpack_from(start))
    if header.magic != _MAGIC:
        raise corrupt(path, "not an SQLite database")
    if header.application_id != APPLICATION_ID:
        raise corrupt(path, f"a database of another program, application id {header.application_id:#x}")
    return header


def _look_inside(path: Path, *, logged: bool, whole: bool) -> int:
    """The schema version. `immutable` keeps SQLite from making files beside a database without a log."""
    mode = "mode=ro" if logged else "mode=ro&immutable=1"
    try:
        db = sqlite3.connect(f"{path.absolute().as_uri()}?{mode}", uri=True, isolation_level=None)
        try:
            return _version(db, path, whole=whole)
        finally:
            db.close()
    except sqlite3.Error as fault:
        raise store_fault(fault, path) or corrupt(path, str(fault)) from fault


def _version(db: sqlite3.Connection, path: Path, *, whole: bool) -> int:
    if whole:
        found = str(db.execute("PRAGMA quick_check(1)").fetchone()[0])
        if found != "ok":
            raise corrupt(path, found)
    return int(db.execute("PRAGMA user_version").fetchone()[0])
