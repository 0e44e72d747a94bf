"""One deadline that is set anew all the time, on one timer that is not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class Deadline:
    """Calls `late` when the present deadline has passed. Lives on the event loop.

    A connection sets several with each request, and hardly ever one passes. A timer for each would be most of
    what they cost; so a timer that wakes up too early looks when it is needed, and sleeps on.
    """

    __slots__ = ("_late", "_loop", "_timer", "due_s")

    def __init__(self, loop: asyncio.AbstractEventLoop, late: Callable[[], None]) -> None:
        self._loop = loop
        self._late = late
        self._timer: asyncio.TimerHandle | None = None
        # In the loop's time; None: nothing is waited for.
        self.due_s: float | None = None

    def within(self, seconds: float | None) -> None:
        """From now on, so many seconds are left; None: as many as it takes."""
        self.due_s = None if seconds is None else self._loop.time() + seconds
        if self.due_s is not None and (self._timer is None or self._timer.when() > self.due_s):
            self._wake_at(self.due_s)

    def stop(self) -> None:
        """Nothing is waited for, and nothing wakes up any more."""
        self.due_s = None
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _wake_at(self, due_s: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_at(due_s, self._look)

    def _look(self) -> None:
        self._timer = None
        if self.due_s is None:
            return
        if self.due_s > self._loop.time():
            self._wake_at(self.due_s)
        else:
            self.due_s = None
            self._late()
