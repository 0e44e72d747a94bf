"""One agent on a lane (T-86): a lock that lives as long as the agent, whoever started it dies."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class LaneBusy(Exception):
    """An agent is at work there."""

    def __init__(self, lane: str) -> None:
        super().__init__(f"an agent is at work in {lane}; one lane has one at a time")
        self.lane = lane


@contextmanager
def held(file: Path, lane: str) -> Iterator[int]:
    """Hold the lock; the descriptor goes to the agent, which keeps it held when we are killed.

    Raises `LaneBusy`. The kernel lets go when the last process that has the descriptor ends.
    """
    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise LaneBusy(lane) from None
        yield descriptor
    finally:
        os.close(descriptor)
