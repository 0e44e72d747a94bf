"""Show events to somebody who may read slowly, stop reading, or leave: the agent never waits for them (J-28).

What does not fit the queue is not shown, and a line says which ones those were (J-32).
"""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Final, Self

# Some seconds of an agent that streams word by word; in bytes a few hundred thousand.
MOST_WAITING: Final = 2000
# After a fault: a reader that is alive has taken the rest by then.
LAST_WAIT_S: Final = 2.0


class Audience:
    """`with Audience(write, lagged) as audience: audience.show(text)`; `write` may block, or raise OSError.

    `lagged(first, last)` is the line about those that were not shown, counted from 0.
    """

    def __init__(self, write: Callable[[str], object], lagged: Callable[[int, int], str]) -> None:
        self._write = write
        self._lagged = lagged
        self._waiting: queue.Queue[str | None] = queue.Queue(MOST_WAITING)
        self._count = 0
        self._first_dropped: int | None = None
        self._thread = threading.Thread(target=self._write_all, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        """All that waits is read before the end; after a fault a reader gets a moment and is left behind."""
        patience_s = LAST_WAIT_S if kind else None
        with contextlib.suppress(queue.Full):
            self._waiting.put(None, timeout=patience_s)
            self._thread.join(patience_s)

    def show(self, text: str) -> None:
        """Never blocks, never raises."""
        number, self._count = self._count, self._count + 1
        try:
            if self._first_dropped is not None:
                self._waiting.put_nowait(self._lagged(self._first_dropped, number - 1))
                self._first_dropped = None
            self._waiting.put_nowait(text)
        except queue.Full:
            self._first_dropped = number if self._first_dropped is None else self._first_dropped

    def tell(self, text: str) -> None:
        """As `show`, for what must not be missed: waits for the reader, if there still is one."""
        number, self._count = self._count, self._count + 1
        if self._first_dropped is not None:
            self._waiting.put(self._lagged(self._first_dropped, number - 1))
            self._first_dropped = None
        self._waiting.put(text)

    def _write_all(self) -> None:
        gone = False
        while (text := self._waiting.get()) is not None:
            if not gone:
                try:
                    self._write(text)
                except (OSError, ValueError):  # it left, or its stream is closed
                    gone = True
