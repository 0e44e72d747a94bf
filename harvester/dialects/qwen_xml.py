"""Qwen3-Coder, Qwen 3.5 and later: `<tool_call>` around `<function=name>` (functions.py has the inside).

The models leave the opening `<tool_call>` out at times; a function at the start of a line is then one too.
"""

from __future__ import annotations

from typing import Final

from harvester.dialects.dialect import Dialect
from harvester.dialects.functions import END_CALL, END_FUNCTION, FUNCTION, read_function
from harvester.dialects.hermes import OPEN, STOPS, THINK
from harvester.dialects.reading import Broken, NoOpener, Reading
from harvester.dialects.source import Steps, marks
from harvester.dialects.tagged import Calls, Tags
from harvester.dialects.writer import Edges, drop_gap

_FUNCTION: Final = marks(FUNCTION)
_AFTER_FUNCTION: Final = marks(END_CALL, FUNCTION)


def _read(reading: Reading, start: int, position: int) -> Steps[int]:
    """One `<tool_call>`; functions that stand in it one after the other are all calls."""
    position = yield from reading.source.blanks(position)
    if not (yield from reading.source.marker_at(position, _FUNCTION)):
        raise Broken if (yield from reading.source.cut_in(position, _FUNCTION)) else NoOpener
    while True:
        name, arguments, end = yield from read_function(reading, position + len(FUNCTION), wrapped=True)
        position = yield from reading.source.blanks(end)
        marker = yield from reading.source.marker_at(position, _AFTER_FUNCTION)
        if marker == END_CALL:
            end = position + len(END_CALL)
        elif marker != FUNCTION and not (yield from reading.reply_ends(position)):
            raise Broken(position)
        reading.call(name, arguments, start, end)
        if marker != FUNCTION:
            return end
        start = position


def _read_bare(reading: Reading, start: int, position: int) -> Steps[int]:
    """A function without `<tool_call>` before it, with or without `</tool_call>` behind it."""
    if start and reading.source.text[start - 1] != "\n":
        raise NoOpener
    name, arguments, end = yield from read_function(reading, position, wrapped=False)
    position = yield from reading.source.blanks(end)
    if (yield from reading.source.marker_at(position, marks(END_CALL))):
        end = position + len(END_CALL)
    reading.call(name, arguments, start, end)
    return end


QWEN_XML: Final = Dialect(
    name="qwen3-xml",
    tags=Tags(
        calls={
            OPEN: Calls(read=_read, closers=marks(END_CALL)),
            FUNCTION: Calls(read=_read_bare, closers=marks(END_FUNCTION, END_CALL)),
        },
        thoughts=(THINK,),
        stops=STOPS,
    ),
    edges=Edges(start="\n", gap=drop_gap),
    signs=(r"<function=[^\s<>=]+>",),
)
