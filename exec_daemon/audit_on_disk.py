"""The audit in a store's file, be it of a daemon that runs, of one that has ended, or a copy."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from exec_daemon.store import AuditCheck, AuditLine
from exec_daemon.store.sqlite import audit, schema
from exec_daemon.store.sqlite.check import check
from exec_daemon.store.sqlite.faults import any_fault
from exec_daemon.store_on_disk import connect


class AuditOnDisk:
    """Reads the audit and writes nothing. Raises `StoreError` where the file cannot be read."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def lines(self, limit: int, before: int | None = None) -> list[AuditLine]:
        """As the port's `audit`."""
        return audit.audit(self._db, limit, before)

    def check(self, noted: Mapping[int, str]) -> AuditCheck:
        """As the port's `check_audit`."""
        last, checker = audit.last(self._db), audit.checker(self._db, noted)
        while audit.check_slice(self._db, checker):
            pass
        return checker.close(last)


@contextmanager
def audit_on_disk(path: Path) -> Iterator[AuditOnDisk]:
    """The audit in the file `path`. Raises `StoreCorrupt`, `StoreNewer`, `StoreUnavailable`."""
    check(path, schema.newest())
    try:
        with closing(connect(path)) as db:
            yield AuditOnDisk(db)
    except sqlite3.Error as fault:
        raise any_fault(fault, path) from fault
