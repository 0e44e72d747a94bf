"""Lines of a reply, and a cursor over one line that knows tab stops (CommonMark 2.2)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_END = re.compile(r"\r\n|\n|\r")
TAB_STOP = 4


@dataclass(frozen=True)
class Line:
    """One line without its end; `start` is its offset in the reply, `end` the offset of its end mark."""

    start: int
    text: str

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def blank(self) -> bool:
        return not self.text.strip(" \t")


def lines_from(text: str, start: int) -> Iterator[Line]:
    """Yield the lines of `text` from `start` on; LF, CRLF and CR end a line (GRAMMAR 2)."""
    while start < len(text):
        mark = _END.search(text, start)
        if mark is None:
            yield Line(start, text[start:])
            return
        yield Line(start, text[start : mark.start()])
        start = mark.end()


class Cursor:
    """Walks one line by characters or by columns; half a tab counts as the spaces that are left of it."""

    def __init__(self, line: Line) -> None:
        self.line = line
        self.offset = 0
        self.column = 0

    def peek(self) -> str:
        return self.line.text[self.offset : self.offset + 1]

    @property
    def first(self) -> int:
        """Offset of the next character that is neither space nor tab."""
        rest = self.line.text[self.offset :]
        return self.offset + len(rest) - len(rest.lstrip(" \t"))

    @property
    def indent(self) -> int:
        """Columns of blanks before `first`."""
        column = self.column
        for char in self.line.text[self.offset : self.first]:
            column += self._width(char, column)
        return column - self.column

    @property
    def blank(self) -> bool:
        return self.first == len(self.line.text)

    def rest(self) -> str:
        """From the first nonblank on."""
        return self.line.text[self.first :]

    def to_first(self) -> None:
        self.columns(self.indent)

    def chars(self, count: int) -> None:
        """Advance over `count` characters that are no tabs."""
        self.offset += count
        self.column += count

    def columns(self, count: int) -> None:
        """Advance over at most `count` columns of blanks."""
        while count > 0 and self.peek() in (" ", "\t"):
            width = self._width(self.peek(), self.column)
            step = min(width, count)
            self.column += step
            self.offset += step == width
            count -= step

    def mark(self) -> tuple[int, int]:
        return self.offset, self.column

    def reset(self, mark: tuple[int, int]) -> None:
        self.offset, self.column = mark

    @staticmethod
    def _width(char: str, column: int) -> int:
        return TAB_STOP - column % TAB_STOP if char == "\t" else 1
