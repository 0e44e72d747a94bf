"""A text put together from pieces of lines, and where its characters stand in the reply."""

from __future__ import annotations

from bisect import bisect_right
from copy import copy

from harvester.events import Span


class Passage:
    """`text` is the pieces joined by line feeds: the inside of a paragraph, or the body of a fence."""

    __slots__ = ("_origins", "_starts", "ends_line", "text")

    def __init__(self, pieces: list[tuple[str, int]]) -> None:
        self.ends_line = True  # nothing but blanks stands behind it in its last line
        self.text = "\n".join(piece for piece, _ in pieces)
        self._origins = [origin for _, origin in pieces]
        self._starts = [0]
        for piece, _ in pieces:
            self._starts.append(self._starts[-1] + len(piece) + 1)
        self._starts.pop()

    def before(self, end: int) -> Passage:
        """The same up to `end`, where the line goes on."""
        passage = copy(self)
        passage.text = self.text[:end]
        passage.ends_line = False
        return passage

    def origin(self, position: int) -> int:
        """The offset in the reply of the character at `position`."""
        piece = bisect_right(self._starts, position) - 1
        return self._origins[piece] + position - self._starts[piece]

    def span(self, start: int, end: int) -> Span:
        """Where the stretch from `start` to before `end`, which is not empty, stands in the reply."""
        return self.origin(start), self.origin(end - 1) + 1

    def written_bytes(self, start: int, end: int) -> int:
        """Bytes of that stretch in the reply. What the pieces leave out is ASCII: blanks and line ends."""
        first, last = self.span(start, end)
        return utf8_bytes(self.text[start:end]) + (last - first) - (end - start)


def utf8_bytes(text: str) -> int:
    """Bytes of UTF-8; a lone surrogate counts as the three that it would take."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
