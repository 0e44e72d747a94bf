"""The open block quotes and list items, and how a line goes on in them (CommonMark 0.31, section 5)."""

from __future__ import annotations

from bisect import bisect_right
from typing import Final

from harvester.events import SkipReason
from harvester.scanner.lines import Cursor
from harvester.scanner.starts import CODE_INDENT, Found, Start

# A container is the number of columns that the lines of an item are indented by; a block quote has none.
_QUOTE: Final = 0
# Structure deeper than twice the limit is not followed at all: everything there is inert anyway.
_FOLLOWED: Final = 2


class Containers:
    """From the outermost to the innermost. More than `most` of them make everything in them inert."""

    __slots__ = ("_childless", "_indents", "_most", "_open")

    def __init__(self, most: int) -> None:
        self._most = most
        self._open: list[int] = []
        # What a line is indented by to go on each of the items that no quote is around.
        self._indents: list[int] = []
        self._childless = False  # the innermost is an item that began with a blank line

    def __len__(self) -> int:
        return len(self._open)

    @property
    def full(self) -> bool:
        """Is there no room for another one?"""
        return len(self._open) >= _FOLLOWED * self._most

    def inert(self) -> SkipReason | None:
        """Why nothing in them runs, if nothing does."""
        if len(self._indents) < len(self._open):
            return SkipReason.BLOCK_QUOTE
        return SkipReason.TOO_DEEP if len(self._open) > self._most else None

    def walk(self, cursor: Cursor) -> int:
        """Step over what the line has for them; how many it goes on."""
        return self.walk_blank() if cursor.blank else self._walk(cursor)

    def _walk(self, cursor: Cursor) -> int:
        outer = self._walk_items(cursor)
        if outer == len(self._open):
            return outer
        for depth, columns in enumerate(self._open[outer:], outer):
            if columns == _QUOTE:
                if cursor.char != ">" or cursor.indent() >= CODE_INDENT:
                    return depth
                _step_over_marker(cursor, cursor.first + 1)
            elif cursor.blank:
                return self._walk_blank(depth)
            elif cursor.indent() < columns:
                return depth
            else:
                cursor.take(columns)
        return len(self._open)

    def _walk_items(self, cursor: Cursor) -> int:
        """Of the items that no quote is around, those that the line is indented for: all at once."""
        depth = bisect_right(self._indents, cursor.indent())
        if depth:
            cursor.take(self._indents[depth - 1])
        return depth

    def walk_blank(self) -> int:
        """How many an empty line goes on: items up to a quote, but not one that has had only such lines."""
        items = len(self._indents)
        return items if items < len(self._open) else items - self._childless

    def _walk_blank(self, depth: int) -> int:
        """The same behind the `>` of a quote, from `depth` on."""
        if _QUOTE in self._open[depth:]:
            return self._open.index(_QUOTE, depth)
        return len(self._open) - self._childless

    def truncate(self, depth: int) -> None:
        """All but the outermost `depth` end."""
        if depth < len(self._open):
            del self._open[depth:], self._indents[depth:]
            self._childless = False

    def fill(self) -> None:
        """The innermost gets a child."""
        self._childless = False

    def open(self, cursor: Cursor, found: Found) -> None:
        """A new one begins at the cursor."""
        if found.start is Start.QUOTE:
            self._open.append(_QUOTE)
            _step_over_marker(cursor, found.match.end())
            return
        indent, width = cursor.indent(), found.match.end() - found.match.start()
        cursor.jump(found.match.end())
        blanks = cursor.indent()
        if cursor.blank or blanks > CODE_INDENT:
            blanks = 1  # an empty first line, or indented code
        self._childless = cursor.blank
        cursor.take(blanks)
        columns = indent + width + blanks
        if len(self._indents) == len(self._open):
            self._indents.append(columns + (self._indents[-1] if self._indents else 0))
        self._open.append(columns)


def _step_over_marker(cursor: Cursor, behind: int) -> None:
    """Behind `>`, with one column of blanks if there is one."""
    cursor.jump(behind)
    cursor.take(1)
