"""Hermes, Qwen 2.5 and Qwen 3: `<tool_call>` around `{"name": …, "arguments": {…}}`.

Source of the format: the chat templates of Qwen/Qwen3-0.6B and Qwen/Qwen3-4B-*-2507. They strip line breaks
from either end of the reasoning and from the start of the content, and write one before each call.
"""

from __future__ import annotations

from typing import Final

from harvester.dialects.dialect import Dialect
from harvester.dialects.jsoncalls import named_call
from harvester.dialects.reading import Broken, NoOpener, Reading
from harvester.dialects.source import Markers, Steps, marks
from harvester.dialects.tagged import Calls, Tags, Thought
from harvester.dialects.writer import Edges, drop_gap

OPEN: Final = "<tool_call>"
CLOSE: Final = "</tool_call>"

STOPS: Final = ("<|im_end|>", "<|endoftext|>")
_NEXT: Final = marks(OPEN, *STOPS)

THINK: Final = Thought("<think>", "</think>", edges="\n")


def _read(reading: Reading, start: int, position: int) -> Steps[int]:
    position = yield from reading.source.blanks(position)
    first = yield from reading.source.char(position)
    if first not in ("{", ""):
        raise NoOpener
    value, end = yield from reading.json(position)
    call = named_call(value, bare=True)
    if call is None:
        raise Broken(end)
    closed = yield from closed_by(reading, end, marks(CLOSE), _NEXT)
    reading.call(*call, start, closed)
    return closed


def closed_by(reading: Reading, end: int, closers: Markers, openers: Markers) -> Steps[int]:
    """The end of a call that is complete at `end`: behind its closer; models leave it out before the next
    call, or at the end of a reply that they ended themselves.
    """
    position = yield from reading.source.blanks(end)
    closer = yield from reading.source.marker_at(position, closers)
    if closer:
        return position + len(closer)
    if (yield from reading.source.marker_at(position, openers)) or (yield from reading.reply_ends(position)):
        return end
    raise Broken(position)


HERMES: Final = Dialect(
    name="qwen3-hermes",
    tags=Tags(
        calls={OPEN: Calls(read=_read, closers=marks(CLOSE))},
        thoughts=(THINK,),
        stops=STOPS,
    ),
    edges=Edges(start="\n", gap=drop_gap),
    signs=(r"<tool_call>\s*(?:\{|\Z)",),
)
