"""The machine of families that mark a call with little or nothing: it stands at the start of a line.

A bracket there may begin a call. It is one only if it closes, if all of it reads as calls of tools that
were offered, and if it ends its line; else it is text, and is passed on whole. So an answer in JSON stays an
answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from harvester.dialects.jsoncalls import Named, named_call
from harvester.dialects.literals import LiteralError, parse_calls
from harvester.dialects.reading import Broken, Reading
from harvester.dialects.source import Markers, Steps, marks
from messaging.strict_json import StrictJsonError, loads

# From the text between two brackets to the calls that it is; none if it is something else.
Decode: TypeAlias = Callable[[str], tuple[Named, ...]]

_LINE: Final = "\n"
_PYTHON: Final = marks("(", ")", "[", "]", "{", "}", "'", '"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Unmarked:
    """What may begin a call at the start of a line, and the markers behind which a line starts as well.

    `silent` markers are no text and mean nothing else.
    """

    decode: Mapping[str, Decode]
    markers: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()

    @property
    def stops(self) -> Markers:
        """Where the text of a line is interrupted."""
        return marks(_LINE, *self.markers, *self.silent)

    @property
    def separators(self) -> Markers:
        """What may stand behind a call in its line."""
        return marks(";", *self.markers, *self.silent)


def read_unmarked(rules: Unmarked, reading: Reading, _prompt: str) -> Steps[None]:
    """Read a reply line by line; the prompt opens nothing here."""
    source, say, stops = reading.source, reading.writer.content, rules.stops
    marked = False
    while True:
        taken = yield from _line_start(rules, reading, marked=marked)
        marked = False
        if taken:
            continue
        marker = yield from source.pass_on(stops, say)
        if marker is None:
            return
        if marker == _LINE:
            say(source.base + source.at, marker)
        source.settle(source.at + len(marker))
        marked = marker in rules.markers


def _line_start(rules: Unmarked, reading: Reading, *, marked: bool) -> Steps[bool]:
    """Take in what stands at the start of a line if it is calls; true if it was."""
    source, say = reading.source, reading.writer.content
    start = yield from source.blanks(source.at)
    decode = rules.decode.get((yield from source.char(start)))
    if start > source.at:
        say(source.base + source.at, source.text[source.at : start])
        source.settle(start)
    if decode is None:
        return False
    start = source.at
    try:
        end = yield from _closed(reading, start)
        calls = decode(source.text[start:end])
        behind = (yield from _line_end(rules, reading, end)) if calls else None
        if calls and _meant(reading, calls, end, behind, marked=marked):
            for call in calls:
                reading.call(*call, start, end)
            source.settle(end if behind is None else behind)
            return True
    except Broken as broken:
        end = len(source.text) if broken.position is None else broken.position
    say(source.base + start, source.text[start:end])
    source.settle(end)
    return False


def _meant(reading: Reading, calls: tuple[Named, ...], end: int, behind: int | None, *, marked: bool) -> bool:
    """Behind a marker calls are meant; without one the tools were offered, and the calls fill lines or come
    before all text.
    """
    if marked:
        return True
    first, offered = not reading.writer.has_content, bool(reading.tools.schemas)
    placed = (
        (offered or first)
        if behind is not None
        else (offered and first and reading.source.text[end : end + 1].isspace())
    )
    return placed and all(reading.tools.offers(call.name) for call in calls)


def _line_end(rules: Unmarked, reading: Reading, position: int) -> Steps[int | None]:
    """Where reading goes on behind a call that ends its line, or comes before `;` or a marker."""
    source = reading.source
    while (yield from source.char(position)) in (" ", "\t"):
        position += 1
    if (yield from source.char(position)) in ("", "\n", "\r"):
        return position
    marker = yield from source.marker_at(position, rules.separators)
    return position + (marker == ";") if marker else None


def _closed(reading: Reading, position: int) -> Steps[int]:
    """The end of the brackets that open at `position`, as JSON or Python have strings."""
    source, depth, quote = reading.source, 0, ""
    while True:
        found = yield from source.find(marks(quote, "\\") if quote else _PYTHON, position)
        if found is None:
            raise Broken
        position, mark = found[0] + len(found[1]), found[1]
        if quote:
            position += mark == "\\"
            quote = "" if mark == quote else quote
        elif mark in "'\"":
            if (yield from source.marker_at(position - 1, marks(mark * 3))):
                quote, position = mark * 3, position + 2
            else:
                quote = mark
        else:
            depth += 1 if mark in "([{" else -1
            if depth == 0:
                return position


def json_calls(text: str) -> tuple[Named, ...]:
    """One call, or an array of calls, as JSON."""
    try:
        value = loads(text)
    except StrictJsonError:
        return ()
    found = [named_call(item) for item in (value if isinstance(value, list) else [value])]
    calls = tuple(call for call in found if call is not None)
    return calls if len(calls) == len(found) else ()


def python_calls(text: str) -> tuple[Named, ...]:
    """A list of calls, as Python."""
    try:
        return parse_calls(text)
    except LiteralError:
        return ()


def any_calls(text: str) -> tuple[Named, ...]:
    """A bracket may open a list of either."""
    return json_calls(text) or python_calls(text)
