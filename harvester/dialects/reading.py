"""What a machine works with, and how a call that is none is told apart from text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from harvester.dialects.source import Characters, Markers, Source, Steps, marks
from harvester.dialects.tools import Tools
from harvester.dialects.writer import Writer
from messaging.strict_json import StrictJsonError, loads

# GRAMMAR 4: what holds for a directive. UTF-8 bytes of a call with its markup.
MAX_CALL_BYTES: Final = 1 << 16

# What changes the state outside a string, and whatever no JSON has there: that breaks it then and there.
_OUTSIDE: Final = Characters(r"[{}\[\]\"]|[^\w\s:,.+-]")
_IN_STRING: Final = marks('"', "\\")


class Broken(Exception):
    """What a call's opener began is no call. Never leaves the machine: it becomes a `Dropped` piece.

    `position` is how far it was read: what a broken call holds does not run either (GRAMMAR 4). None: to the
    end of the reply.
    """

    def __init__(self, position: int | None = None) -> None:
        super().__init__(position)
        self.position = position


class NoOpener(Exception):
    """What looked like a call's opener is text. Never leaves the machine either."""


@dataclass(frozen=True, slots=True)
class Reading:
    """One reply being read. `truncated`: the model was cut off, so the end of the reply ends nothing."""

    source: Source
    writer: Writer
    tools: Tools
    truncated: bool = False

    def call(self, name: str, arguments: dict[str, Any], start: int, end: int) -> None:
        """A complete call; `start` and `end` are positions in the source's text."""
        written = self.source.text[start:end]
        if not name or len(written.encode("utf-8", "replace")) > MAX_CALL_BYTES:
            raise Broken(end)
        self.writer.call(name, arguments, self.source.base + start, self.source.base + end)

    def recover(self, broken: Broken, start: int, closers: Markers) -> Steps[int]:
        """Give up one call of several from `start` on; the place of the closer that comes next."""
        if broken.position is None:
            raise broken
        found = yield from self.source.find(closers, broken.position)
        if found is None:
            raise Broken
        self.writer.drop(self.source.base + start, self.source.base + found[0])
        return found[0]

    def expect(self, position: int, *literals: str) -> Steps[int]:
        """The end of the one of `literals` that has to stand at `position`."""
        found = yield from self.source.marker_at(position, marks(*literals))
        if found is None:
            raise Broken(position)
        return position + len(found)

    def upto(self, position: int, marker: Markers) -> Steps[tuple[str, int]]:
        """The text from `position` to the marker that has to follow, and the place of the marker."""
        found = yield from self.source.find(marker, position)
        if found is None:
            raise Broken
        return self.source.text[position : found[0]], found[0]

    def balanced(self, position: int) -> Steps[int]:
        """The end of the brackets of JSON that open at `position`; brackets in strings do not count."""
        depth, quoted = 0, False
        while True:
            found = yield from self.source.find(_IN_STRING if quoted else _OUTSIDE, position)
            if found is None:
                raise Broken
            position, mark = found[0] + 1, found[1]
            if mark == '"':
                quoted = not quoted
            elif mark == "\\":
                position += 1
            elif mark not in "{}[]":
                raise Broken(position - 1)
            else:
                depth += 1 if mark in "{[" else -1
                if depth == 0:
                    return position

    def json(self, position: int) -> Steps[tuple[Any, int]]:
        """The object or array at `position` and where it ends. Strict, nothing is repaired (GRAMMAR 4)."""
        if (yield from self.source.char(position)) not in ("{", "["):
            raise Broken(position)
        end = yield from self.balanced(position)
        try:
            return loads(self.source.text[position:end]), end
        except StrictJsonError:
            raise Broken(end) from None

    def json_object(self, position: int) -> Steps[tuple[dict[str, Any], int]]:
        """As `json`, for arguments: it has to be an object."""
        value, end = yield from self.json(position)
        if not isinstance(value, dict):
            raise Broken(end)
        return value, end

    def reply_ends(self, position: int) -> Steps[bool]:
        """Is there nothing but blanks from `position` on, in a reply that was not cut off?"""
        end = yield from self.source.blanks(position)
        return not self.truncated and not (yield from self.source.char(end))
