"""Leaf blocks while they are open: what is held of them, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, NamedTuple

from harvester.events import SkipReason
from harvester.scanner.leaps import over_rows, over_text
from harvester.scanner.ledger import Ledger
from harvester.scanner.lines import Cursor, Line, lines_end
from harvester.scanner.marks import MARKS
from harvester.scanner.openers import OPENER
from harvester.scanner.passage import utf8_bytes
from harvester.scanner.starts import HTML_ENDS
from harvester.scanner.watches import Watch, in_fence, in_html, in_paragraph


@dataclass(slots=True)
class Hidden:
    """A block that is inert as a whole; it is reported if an opener stands in it."""

    reason: SkipReason
    start: int
    end: int = 0
    seen: bool = False

    @property
    def watch(self) -> Watch | None:
        """What may end it, if not any line may."""
        return None

    def see(self, text: str, origin: int) -> None:
        """Another piece, which stands at `origin` in the reply."""
        self.seen = self.seen or OPENER.search(text) is not None
        self.end = origin + len(text)

    def close(self, ledger: Ledger) -> None:
        """Report it."""
        if self.seen:
            ledger.skip(self.reason, (self.start, self.end))


@dataclass(slots=True)
class Html(Hidden):
    """An HTML block of one of the seven kinds."""

    kind: int = 0

    @property
    def watch(self) -> Watch | None:
        """The end that its kind has; 6 and 7 have none."""
        return in_html if self.kind in HTML_ENDS else None

    def ends(self, text: str, pos: int) -> bool:
        """Is the line with this text its last one? Kinds 6 and 7 end before a blank line instead."""
        end = HTML_ENDS.get(self.kind)
        return end is not None and end.search(text, pos) is not None


@lru_cache(maxsize=16)
def _closing_line(run: str) -> re.Pattern[str]:
    """A line that closes the fence that `run` opened, with the line feed before it."""
    return re.compile(rf"\n {{0,3}}{run[0]}{{{len(run)},}}+[ \t]*+(?=[\r\n])")


_CLOSING_RUN: Final = re.compile(r"(`{3,}|~{3,})[ \t]*+$")


@dataclass(slots=True)
class Fence:
    """Fenced code. `pieces` is its body if the language could make it run, None if nothing can."""

    run: str
    indent: int
    language: str
    hidden: Hidden
    pieces: list[tuple[str, int]] | None
    room: int
    long: bool = False

    @property
    def watch(self) -> Watch | None:
        """Its closing fence."""
        return in_fence[self.run[0]]

    def closed_by(self, cursor: Cursor) -> bool:
        """Is the line its closing fence: as long at least, and not indented as code?"""
        match = _CLOSING_RUN.match(cursor.text, cursor.first)
        return match is not None and match[1].startswith(self.run) and cursor.indent() < 4

    def add(self, cursor: Cursor, line: Line) -> None:
        """A line of the body, without the indentation of the fence."""
        self.hidden.see(line.text, line.start)
        if self.pieces is None:
            return
        self._pay(utf8_bytes(line.text) + 1)
        if self.long:
            self.pieces.clear()
        else:
            cursor.take(self.indent)
            self.pieces.append((cursor.text[cursor.pos :], line.start + cursor.pos))

    def leap(self, text: str, pos: int, at: int) -> int:
        """Take the lines from `pos` to its closing fence at once; where that is.

        A line of `text`, which stands at `at` in the reply, ends before `pos`.
        """
        if self.indent and self.pieces is not None:
            return pos
        found = _closing_line(self.run).search(text, pos - 1)
        end = found.start() + 1 if found else lines_end(text)
        cr = text.find("\r", pos - 1, end)  # no line feed before or in what is taken: line by line
        end = lines_end(text, pos, end if cr < 0 else cr)
        if end > pos:
            self._take(text[pos:end], at + pos)
        return end

    def _take(self, lines: str, start: int) -> None:
        self.hidden.see(lines[:-1], start)
        if self.pieces is not None:
            self._pay(utf8_bytes(lines))
            self.pieces.append((lines[:-1], start))
            if self.long:
                self.pieces.clear()

    def close(self, line: Line) -> None:
        """Its closing fence; the limit counts the whole block."""
        self.hidden.see(line.text, line.start)
        self._pay(utf8_bytes(line.text))

    def _pay(self, size: int) -> None:
        self.room -= size
        self.long = self.long or self.room < 0


# What could begin a code span, tag, quotation, struck-out text, directive, escape or command.
_NOT_PLAIN: Final = re.compile(
    "|".join(
        (
            *map(re.escape, sorted(MARKS | set("`<~[\\"))),
            r"'\Z",
            r"c(?<=(?m:^)c)url ",
            r"\$(?<=(?m:^)\$) curl ",
        )
    )
)


def is_plain(text: str, start: int, end: int) -> bool:
    """Is there nothing in this stretch of a line that could make what comes after it inert?"""
    return _NOT_PLAIN.search(text[start:end]) is None


_TEXT_LINE: Final = re.compile(r"[^\n]+")


class Piece(NamedTuple):
    """The stretch of a line that is content; or several lines of text, with a line feed between them."""

    line: Line
    first: int
    last: int

    def lines(self) -> Iterator[Line]:
        """Each by itself."""
        if "\n" not in self.line.text:
            yield self.line
            return
        for match in _TEXT_LINE.finditer(self.line.text):
            yield Line(match[0], self.line.start + match.start())


@dataclass(slots=True)
class Paragraph:
    """The lines of a paragraph and where the content of each begins.

    Past the limit only the last line is held: it may turn out to be the header row of a table.
    """

    room: int
    hidden: Hidden
    pieces: list[Piece] = field(default_factory=list)
    long: bool = False
    settled: bool = False

    @property
    def watch(self) -> Watch | None:
        """A line that may end it."""
        return in_paragraph

    @property
    def may_command(self) -> bool:
        """May a command stand in it (GRAMMAR 6)?"""
        return any("curl " in piece.line.text for piece in self.pieces)

    def add(self, line: Line, first: int) -> None:
        """Another line, whose content begins at `first`."""
        if self.long:
            self._see()
            self.pieces.clear()
        self.pieces.append(Piece(line, first, len(line.text)))
        self._pay(utf8_bytes(line.text[first:]) + 1)

    def leap(self, text: str, pos: int, at: int) -> int:
        """Take the plain lines from `pos` on at once, all but the last; where that begins."""
        last = over_text(text, pos)
        if last > pos:
            lines = text[pos : last - 1].replace("\r", "\n")
            self.add(Line(lines, at + pos), 0)
        return last

    def _pay(self, size: int) -> None:
        self.room -= size
        self.long = self.room < -1  # the last line feed is none of its content

    def _see(self) -> None:
        for line, first, _ in self.pieces:
            self.hidden.see(line.text[first:], line.start + first)

    def hide(self, reason: SkipReason, ledger: Ledger) -> None:
        """It turned out to be inert as a whole."""
        self._see()
        self.hidden.reason = reason
        self.hidden.close(ledger)

    def is_plain(self) -> bool:
        """Is there nothing in it that could make what comes after it inert? Asked once: a no stays one."""
        if not self.settled:
            self.settled = not all(is_plain(line.text, first, last) for line, first, last in self.pieces)
        return not self.settled

    def last_line(self) -> str:
        """The content of its last line."""
        piece = self.pieces[-1]
        return piece.line.text[piece.first :]

    def split_header(self) -> Piece:
        """Take the last line off."""
        header = self.pieces.pop()
        self._pay(-utf8_bytes(header.line.text[header.first :]) - 1)
        return header


class Table:
    """An open table: its rows are read as they come."""

    watch: Watch | None = None

    def leap(self, text: str, pos: int, _at: int) -> int:
        """Go over rows without anything that could matter."""
        return over_rows(text, pos)


Leaf = Hidden | Html | Fence | Paragraph | Table
