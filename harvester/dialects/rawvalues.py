"""Arguments that are written as raw text between markers, which the text may contain as well.

Nothing is escaped in these formats, so a closing marker ends a value only where the structure goes on behind
it: the next argument, or the end of the call. A marker that the value merely mentions is followed by text.
"""

from __future__ import annotations

from typing import NamedTuple

from harvester.dialects.reading import Broken
from harvester.dialects.source import Markers, Source, Steps


class Value(NamedTuple):
    """A raw value, and where reading goes on behind its closing marker."""

    text: str
    end: int


def closed_value(source: Source, position: int, closer: Markers, following: Markers) -> Steps[Value]:
    """The text from `position` to the first `closer` that one of `following` comes behind."""
    start = position
    while True:
        found = yield from source.find(closer, position)
        if found is None:
            raise Broken
        place, marker = found
        behind = yield from source.blanks(place + len(marker))
        if (yield from source.marker_at(behind, following)):
            return Value(source.text[start:place], place + len(marker))
        position = place + len(marker)
