"""Which inert stretches cover a place, for places that only go forward."""

from __future__ import annotations

from bisect import bisect_left
from heapq import heappop, heappush

from harvester.events import SkipReason
from harvester.scanner.stretches import Hide, Layout


class Sweep:
    """Walks over the stretches of a layout; each is taken up and dropped once."""

    def __init__(self, layout: Layout) -> None:
        self._hides = layout.hides
        self._codes = layout.codes
        self._next = 0
        self._active: list[tuple[int, Hide]] = []
        self._bounds: list[int] = []

    def reason(self, place: int) -> SkipReason | None:
        """Why the character at `place` is inert; a stretch that begins there does not count."""
        while self._next < len(self._hides) and self._hides[self._next].start < place:
            hide = self._hides[self._next]
            self._next += 1
            heappush(self._active, (hide.end, hide))
            if hide.bounds:
                heappush(self._bounds, hide.end)
        while self._active and self._active[0][0] <= place:
            heappop(self._active)
        return self._active[0][1].reason if self._active else None

    def bound(self, place: int, most: int) -> int:
        """The nearest end of a code span, tag or quotation around `place`, at most `most`."""
        while self._bounds and self._bounds[0] <= place:
            heappop(self._bounds)
        return min(most, self._bounds[0]) if self._bounds else most

    def left_by_code(self, start: int, end: int) -> bool:
        """Does a code span that begins between `start` and `end` go on behind `end`?"""
        place = bisect_left(self._codes, (end, 0)) - 1
        return place >= 0 and self._codes[place][0] > start and self._codes[place][1] > end
