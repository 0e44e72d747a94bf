"""Lines of a reply and a cursor over the blanks and tabs at their start (CommonMark 0.31, 2.2)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

# GRAMMAR 2: lines end with LF, CRLF or CR, and with nothing else.
_LINE: Final = re.compile(r"([^\r\n]*+)(?:\r\n|\n|\r)")
_BLANKS: Final = re.compile(r"[ \t]*+")
TAB_STOP: Final = 4


class Line(NamedTuple):
    """A line without its end. `start` is the offset of `text[0]` in the reply.

    The line is read from `begin` on: behind a reasoning tag structure starts afresh with its rest.
    """

    text: str
    start: int
    begin: int = 0


def lines_from(text: str, pos: int, offset: int) -> Iterator[tuple[Line, int]]:
    """The complete lines of `text` from `pos` on, each with where the next one begins.

    `text` stands at `offset` in the reply.
    """
    for match in _LINE.finditer(text, pos):
        yield Line(match[1], offset + match.start()), match.end()


def line_from(text: str, pos: int, offset: int) -> tuple[Line, int] | None:
    """The line that begins at `pos` of `text`, and where the next one begins; None if it has no end."""
    match = _LINE.match(text, pos)
    return (Line(match[1], offset + pos), match.end()) if match else None


def lines_end(text: str, pos: int = 0, end: int | None = None) -> int:
    """Behind the last complete line between `pos` and `end`, or `pos`.

    A CR ends a line, whether an LF comes behind it or not.
    """
    return max(text.rfind("\n", pos, end) + 1, text.rfind("\r", pos, end) + 1, pos)


class Cursor:
    """How far the containers of a line have been read; a tab may be taken in part."""

    __slots__ = ("_marks", "column", "first", "pos", "text")

    def __init__(self, line: Line) -> None:
        self.text = line.text
        self.pos = line.begin
        self.column = 0
        self.first = 0  # the first character that is no blank, from `pos` on
        self._marks = -1
        self._look()

    def _look(self) -> None:
        match = _BLANKS.match(self.text, self.pos)
        assert match is not None
        self.first = match.end()

    @property
    def blank(self) -> bool:
        """Is nothing left but blanks?"""
        return self.first == len(self.text)

    @property
    def char(self) -> str:
        """The first character that is no blank, empty at the end of the line."""
        return self.text[self.first : self.first + 1]

    @property
    def only_marks(self) -> bool:
        """Does the rest of the line hold nothing but what breaks and underlines are made of?"""
        if self._marks < 0:  # found out once, since a nest of items asks for each of its levels
            self._marks = len(self.text.rstrip("-*_= \t"))
        return self.first >= self._marks

    def indent(self) -> int:
        """Columns of blanks before that character."""
        if self.text.find("\t", self.pos, self.first) < 0:
            return self.first - self.pos
        before = self.column % TAB_STOP
        blanks = " " * before + self.text[self.pos : self.first]
        return len(blanks.expandtabs(TAB_STOP)) - before

    def take(self, columns: int) -> None:
        """Go on by that many columns of blanks; what is left of a tab stays."""
        if self.text.find("\t", self.pos, self.first) < 0:
            columns = min(columns, self.first - self.pos)
            self.pos += columns
            self.column += columns
            return
        while columns > 0 and self.pos < self.first:
            width = TAB_STOP - self.column % TAB_STOP if self.text[self.pos] == "\t" else 1
            self.column += min(width, columns)
            if width <= columns:
                self.pos += 1
            columns -= width

    def jump(self, pos: int) -> None:
        """Go on to `pos`, at or behind the first character that is no blank."""
        self.column += self.indent() + pos - self.first
        self.pos = pos
        self._look()
