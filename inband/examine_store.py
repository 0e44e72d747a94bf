"""What `box doctor` finds about the store: how large it is, and whether it can be read."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

from exec_daemon.store import StoreError
from exec_daemon.store.sqlite import schema
from exec_daemon.store.sqlite.check import check
from exec_daemon.store_on_disk import connect
from inband.finding import Finding, Grade
from inband.settings import Settings

# With the defaults a daemon of ten busy identities stays under this.
_MUCH_BYTES: Final = 4 << 30
_COUNTS: Final = "SELECT (SELECT count(*) FROM jobs), (SELECT count(*) FROM audit)"


def examine(settings: Settings) -> Iterator[Finding]:
    """Nothing where no daemon has run yet."""
    store = settings.home / "store.db"
    if not store.exists():
        return
    try:
        check(store, schema.newest())
        with closing(connect(store)) as db:
            jobs, lines = db.execute(_COUNTS).fetchone()
    except (StoreError, sqlite3.Error) as fault:
        yield Finding(Grade.FAIL, "store", str(fault), "docs/operations.md: put back a backup")
        return
    taken = sum(_bytes(store.with_name(store.name + suffix)) for suffix in ("", "-wal"))
    found = f"{taken / (1 << 20):,.1f} MiB, {jobs:,} jobs, {lines:,} lines of the audit"
    if taken < _MUCH_BYTES:
        yield Finding(Grade.OK, "store", found)
    else:
        yield Finding(
            Grade.WARN, "store", found, "lower store.keep_days, keep_jobs, audit_days or audit_lines"
        )


def _bytes(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0
