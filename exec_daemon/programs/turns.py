"""Who may begin now: where many programs are asked for at once, most are over sooner if they take turns.

A short program is all work: reading it in, and giving its memory back. Two at a time for each processor keep
all of them busy, one of them on its way to and fro, and what they work with stays in the caches. One that
takes longer than a turn goes on, and the next one begins.
"""

from __future__ import annotations

import asyncio
import os
from typing import Final

# Several times what a program needs that does next to nothing.
_TURN_S: Final = 0.005
_TURNS_EACH: Final = 2


class Turns:
    """Lives on the event loop."""

    def __init__(self, most: int | None = None, turn_s: float = _TURN_S) -> None:
        """`most` turns at a time; None: by the processors that we may use."""
        self._turn_s = turn_s
        self._free = asyncio.Semaphore(most or _TURNS_EACH * len(os.sched_getaffinity(0)))

    async def next(self) -> Turn:
        """Waits for one."""
        await self._free.acquire()
        return Turn(self._free, self._turn_s)


class Turn:
    """Ends by itself, or before."""

    __slots__ = ("_free", "_timer")

    def __init__(self, free: asyncio.Semaphore, most_s: float) -> None:
        self._free: asyncio.Semaphore | None = free
        self._timer = asyncio.get_running_loop().call_later(most_s, self.end)

    def end(self) -> None:
        """Once more changes nothing."""
        if self._free is not None:
            self._timer.cancel()
            self._free.release()
            self._free = None
