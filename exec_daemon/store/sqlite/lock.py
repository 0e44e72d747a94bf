"""Exclusive ownership of a database: one daemon at a time, however many are started.

The lock is flock(2) on a file beside the database. The kernel drops it when its owner dies, so there is
no stale lock to clear away, and the file is never removed: removing it would let two owners in.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import Final

from exec_daemon.store.errors import StoreBusy, StoreLocked
from exec_daemon.store.sqlite.faults import os_fault

# A link that somebody planted is not followed: the file behind it would be overwritten.
_FLAGS: Final = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW


# What an owner that puts a backup in place writes before its pid: it will be gone soon.
RESTORING: Final = "restoring"


class Ownership:
    """Held from construction to `release()`. Raises `StoreLocked` when another process holds it."""

    def __init__(self, database: Path, word: str = "") -> None:
        self._word = word
        path = database.with_name(database.name + ".lock")
        try:
            self._file = os.open(path, _FLAGS, 0o600)
        except OSError as fault:
            raise os_fault(fault, path) from fault
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._sign()
        except BlockingIOError:
            raise self._refused(database) from None
        except OSError as fault:
            self.release()
            raise os_fault(fault, path) from fault

    def _sign(self) -> None:
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, f"{self._word} {os.getpid()}".strip().encode() + b"\n", 0)

    def _refused(self, database: Path) -> StoreLocked:
        owner = os.pread(self._file, 32, 0).decode("ascii", "replace").strip()
        self.release()
        if owner.startswith(RESTORING):
            return StoreBusy(f"{database} is being put back from a backup ({owner})", str(database))
        who = f"process {owner}" if owner else "another process"
        message = f"{database} belongs to a running daemon ({who}): use that one, or stop it first"
        return StoreLocked(message, str(database))

    def release(self) -> None:
        """Lets the next owner in."""
        os.close(self._file)
