"""Events of one job in their order, whatever the order in which they arrive (M-55, M-62).

Feed arrivals, take what is ready. Each event comes out once. One that is missing holds the later ones
back for `patience_s`; then they come without it and the job counts as incomplete, so that its end is
told in any case.
"""

from __future__ import annotations

from typing import Final

from messaging.events import JobEvent

# A sender that retries with waits of up to 10 s has tried three times by then (M-39).
PATIENCE_S: Final = 30.0


class EventSequence:
    """Clock-free: times are seconds on any one clock, passed in. `after` is the last number already had."""

    def __init__(self, *, after: int = -1, patience_s: float = PATIENCE_S) -> None:
        self._next = after + 1
        self._patience_s = patience_s
        self._waiting: dict[int, tuple[JobEvent, float]] = {}
        self.incomplete = False
        self.ended = False

    def feed(self, event: JobEvent, at_s: float) -> None:
        """An event arrived; one that was had before is passed over."""
        if event.seq >= self._next:
            self._waiting.setdefault(event.seq, (event, at_s))

    def ready(self, now_s: float) -> list[JobEvent]:
        """What can be told now, in order."""
        ready = self._run()
        while self._waiting and self._oldest_s() + self._patience_s <= now_s:
            self._next, self.incomplete = min(self._waiting), True
            ready += self._run()
        return ready

    def _oldest_s(self) -> float:
        return min(at_s for _, at_s in self._waiting.values())

    def _run(self) -> list[JobEvent]:
        """Takes the events that follow without a gap."""
        run: list[JobEvent] = []
        while self._next in self._waiting:
            event, _ = self._waiting.pop(self._next)
            run.append(event)
            self.ended = self.ended or event.type.terminal
            self._next += 1
        return run
