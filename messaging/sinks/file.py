"""`file`: NDJSON appended to a file that outlives the process (M-24, M-25)."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

from messaging.events import JobEvent
from messaging.sinks.errors import SinkBroken, SinkClosed
from messaging.sinks.lines import write_all

# O_APPEND: several writers do not overwrite each other. O_NOFOLLOW: in a folder that others may write, a
# link could lead our lines into another's file. O_NONBLOCK: opening a FIFO must not hang before the check.
_FLAGS: Final = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


class FileSink:
    """Appends one line an event, in one write each; what was there stays. Raises `SinkBroken`."""

    def __init__(self, path: Path) -> None:
        self._descriptor: int | None = _opened(path)

    async def emit(self, event: JobEvent) -> None:
        if self._descriptor is None:
            raise SinkClosed("the sink is closed")
        write_all(self._descriptor, event.encode() + b"\n")
        if event.type.terminal:
            _sync(self._descriptor)

    async def close(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None


def _opened(path: Path) -> int:
    try:
        descriptor = os.open(path, _FLAGS, 0o600)
    except OSError as fault:
        raise SinkBroken(f"{path} cannot be opened for events: {fault.strerror}") from fault
    try:
        _check(descriptor, path)
    except SinkBroken:
        os.close(descriptor)
        raise
    return descriptor


def _check(descriptor: int, path: Path) -> None:
    """Only a regular file. A last line that a crash tore off is ended, so that ours is not part of it."""
    found = os.fstat(descriptor)
    if not stat.S_ISREG(found.st_mode):
        raise SinkBroken(f"{path} is no regular file")
    if found.st_size and os.pread(descriptor, 1, found.st_size - 1) != b"\n":
        write_all(descriptor, b"\n")


def _sync(descriptor: int) -> None:
    try:
        os.fsync(descriptor)
    except OSError as fault:
        raise SinkBroken(f"events cannot be written: {fault.strerror}") from fault
