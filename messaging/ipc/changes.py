"""Wait until files come into directories: by inotify(7) where there is one, and never for long.

An event is a hint to look again and nothing more: whoever waits polls as well, so a lost one costs half a
second (T-26).
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import select
import time
from types import TracebackType
from typing import Final, Self

# inotify_add_watch(2): IN_CLOSE_WRITE, IN_MOVED_TO, IN_CREATE, IN_ONLYDIR.
_MASK: Final = 0x8 | 0x80 | 0x100 | 0x01000000
_BUFFER_BYTES: Final = 1 << 16
POLL_S: Final = 0.5


class Changes:
    """`watch` directories by their descriptors, then `wait`."""

    def __init__(self, poll_s: float = POLL_S) -> None:
        self._poll_s = poll_s
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._fd = -1
        with contextlib.suppress(AttributeError):
            self._fd = self._libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give the descriptor back."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def watch(self, directory: int) -> None:
        """Also this directory. By its descriptor, since its path may lead elsewhere by now."""
        if self._fd >= 0:
            self._libc.inotify_add_watch(self._fd, f"/proc/self/fd/{directory}".encode(), _MASK)

    def wait(self, most_s: float) -> None:
        """Until something happened, at most `most_s` and never longer than the poll."""
        pause_s = max(0.0, min(most_s, self._poll_s))
        if self._fd < 0:
            time.sleep(pause_s)
            return
        ready, _, _ = select.select([self._fd], [], [], pause_s)
        if ready:
            with contextlib.suppress(BlockingIOError):
                while len(os.read(self._fd, _BUFFER_BYTES)) == _BUFFER_BYTES:
                    pass
