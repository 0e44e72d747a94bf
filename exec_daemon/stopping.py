"""The word that the daemon stops, and how much of the grace is left since then."""

from __future__ import annotations

import asyncio


class Stopping(asyncio.Event):
    """Set once. What waits for connections and what waits for jobs afterwards share one grace."""

    def __init__(self) -> None:
        super().__init__()
        self._since_s: float | None = None

    def set(self) -> None:
        if self._since_s is None:
            self._since_s = asyncio.get_running_loop().time()
        super().set()

    def left_s(self, grace_s: float) -> float:
        """What is left of `grace_s`; all of it before the word, never less than nothing."""
        if self._since_s is None:
            return grace_s
        return max(0.0, self._since_s + grace_s - asyncio.get_running_loop().time())
