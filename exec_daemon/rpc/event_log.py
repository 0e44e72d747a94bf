"""The events of one identity's tasks: the newest of them, numbered from 1 without gaps, in bounded memory.

Readers keep their own place in it. One that is too slow finds its events gone and is told so; nobody ever
waits for a reader (J-31, J-32).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from typing import Any, Final

from messaging.rpc import Event, encode

# A burst of an agent's output is a few hundred events; a client that comes back after some seconds has all.
MOST_EVENTS: Final = 1000
# Sixteen of the longest lines: what one identity can make the daemon hold.
MOST_BYTES: Final = 16 << 20


class EventLog:
    """`epoch` is of this run of the daemon. Not for several threads."""

    def __init__(
        self,
        epoch: str,
        clock: Callable[[], str],
        *,
        most_events: int = MOST_EVENTS,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self.epoch = epoch
        self._clock = clock
        self._most_events = most_events
        self._most_bytes = most_bytes
        self._kept: deque[tuple[Event, bytes]] = deque()
        self._bytes = 0
        self._watchers: set[Callable[[], None]] = set()
        self.last = 0

    @property
    def first(self) -> int:
        """The number of the oldest event that is kept; that of the next one where none is."""
        return self.last - len(self._kept) + 1

    def add(self, event: str, agent: str, payload: Mapping[str, Any]) -> None:
        """One more event; wakes who watches."""
        self.last += 1
        made = self._event(event, agent, payload, self.last)
        line = encode(made.to_json())
        self._kept.append((made, line))
        self._bytes += len(line)
        while len(self._kept) > self._most_events or self._bytes > self._most_bytes:
            self._bytes -= len(self._kept.popleft()[1])
        for wake in self._watchers:
            wake()

    def line(self, seq: int) -> bytes:
        """The event of this number, which is kept, as a line."""
        return self._kept[seq - self.first][1]

    def after(self, seq: int) -> Iterator[tuple[Event, int]]:
        """Those behind `seq` that are kept, each with the bytes of its line."""
        start = max(0, seq + 1 - self.first)
        return ((event, len(line)) for event, line in islice(self._kept, start, None))

    def lagged(self, seq: int) -> bytes:
        """The line that stands for the events behind `seq` that are kept no longer."""
        to = self.first - 1
        return encode(self._event("lagged", "", {"from": seq + 1, "to": to}, to).to_json())

    @contextmanager
    def watched(self, wake: Callable[[], None]) -> Iterator[None]:
        """Calls `wake` with each new event."""
        self._watchers.add(wake)
        try:
            yield
        finally:
            self._watchers.discard(wake)

    def _event(self, event: str, agent: str, payload: Mapping[str, Any], seq: int) -> Event:
        return Event(event=event, agent=agent, ts=self._clock(), payload=payload, epoch=self.epoch, seq=seq)
