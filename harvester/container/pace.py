"""How many files of a group are dealt with (T-43): pure, the clock is passed in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

# An agent at work writes some files a minute; a burst is what a long turn leaves behind.
PER_MINUTE: Final = 120
BURST: Final = 60


@dataclass(slots=True)
class Pace:
    """A bucket for each group. `clock` gives monotonic seconds."""

    clock: Callable[[], float]
    per_minute: int = PER_MINUTE
    burst: int = BURST
    _buckets: dict[str, tuple[float, float]] = field(default_factory=dict)

    def take(self, folder: str, wanted: int) -> int:
        """How many of `wanted` files may be dealt with now; they count as dealt with."""
        now = self.clock()
        left, since = self._buckets.get(folder, (float(self.burst), now))
        left = min(self.burst, left + (now - since) * self.per_minute / 60)
        allowed = min(wanted, int(left))
        self._buckets[folder] = (left - allowed, now)
        return allowed
