"""Which lane's container starts next (T-85): pure, told the time and what ends."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final

# A container with a model's client and tools takes some hundred megabytes.
AT_ONCE: Final = 5
RETRIES: Final = 5
FIRST_PAUSE_S: Final = 5.0


class Kind(IntEnum):
    """Tasks go first: nobody is there to ask again for one that is late."""

    TASK = 0
    MESSAGE = 1


@dataclass(frozen=True, slots=True)
class Work:
    """One reason to run a lane's container; `id` is the task's, or the same for all messages."""

    lane: str
    kind: Kind
    id: str
    attempt: int = 0
    due: float = 0.0


@dataclass(slots=True)
class Places:
    """Ask for a run, take the next, say how it ended. The same work waits once."""

    at_once: int = AT_ONCE
    retries: int = RETRIES
    first_pause_s: float = FIRST_PAUSE_S
    _waiting: deque[Work] = field(default_factory=deque)
    _running: dict[str, Work] = field(default_factory=dict)

    def ask(self, work: Work) -> bool:
        """False when the same work waits or, for a task, runs already."""
        known = [*self._waiting, *self._running.values()]
        twice = (one for one in known if (one.lane, one.kind, one.id) == (work.lane, work.kind, work.id))
        if any(twice):
            return False
        self._waiting.append(work)
        return True

    def take(self, now: float) -> Work | None:
        """The work to begin now, if a place is free and its lane is."""
        if len(self._running) >= self.at_once:
            return None
        ready = [one for one in self._waiting if one.due <= now and one.lane not in self._running]
        if not ready:
            return None
        first = min(ready, key=lambda one: one.kind)  # stable: among equals who asked first
        self._waiting.remove(first)
        self._running[first.lane] = first
        return first

    def ended(self, work: Work, now: float, *, well: bool) -> Work | None:
        """Its place is free; the retry that now waits, None after a success or the last one."""
        del self._running[work.lane]
        if well or work.attempt >= self.retries:
            return None
        pause_s = self.first_pause_s * 2**work.attempt
        again = Work(work.lane, work.kind, work.id, work.attempt + 1, now + pause_s)
        self._waiting.append(again)
        return again

    @property
    def lanes(self) -> frozenset[str]:
        """Those that have a place."""
        return frozenset(self._running)
