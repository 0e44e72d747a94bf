"""Gemma 4: `<|tool_call>call:name{key:value}<tool_call|>` in a notation of its own.

Source of the format: the chat template of google/gemma-4-31B-it. Keys are bare, strings stand raw between
`<|"|>` marks, numbers are as Python writes them, and reasoning is a channel.
"""

from __future__ import annotations

import re
from typing import Final

from harvester.dialects.dialect import Dialect
from harvester.dialects.hermes import closed_by
from harvester.dialects.notation import QUOTE, NotationError, parse_notation
from harvester.dialects.reading import Broken, NoOpener, Reading
from harvester.dialects.source import Steps, marks
from harvester.dialects.tagged import Calls, Tags, Thought
from harvester.dialects.writer import Edges

_OPEN, _CLOSE, _CALL = "<|tool_call>", "<tool_call|>", "call:"

_NAME: Final = re.compile(r"[^\s{}<>]+")
_NAME_END: Final = marks("{", _CLOSE)
_CLOSERS: Final = marks(_CLOSE, "<turn|>", "<|tool_response>")  # the last two end the turn as well
_OUTSIDE: Final = marks(QUOTE, "{", "}", "[", "]")
_INSIDE: Final = marks(QUOTE)
_MAX_NAME: Final = 256

_SENTENCE_END: Final = (".", "!", "?", "…", "。", "！", "？", ":")


def sentence_gap(before: str, gap: str) -> str:
    """The template writes no text before a call, so it does not say whose the blanks between the two are.

    Behind a finished sentence they part it from the call; anything else goes on behind the call.
    """
    return "" if before.endswith(_SENTENCE_END) else gap


def _read(reading: Reading, start: int, position: int) -> Steps[int]:
    position = yield from reading.source.blanks(position)
    if not (yield from reading.source.marker_at(position, marks(_CALL))):
        raise Broken if (yield from reading.source.cut_in(position, marks(_CALL))) else NoOpener
    position += len(_CALL)
    found = yield from reading.source.find_near(_NAME_END, position, _MAX_NAME)
    name = reading.source.text[position : found[0]].strip() if found else ""
    if found is None or found[1] == _CLOSE or not _NAME.fullmatch(name):
        raise Broken(found[0] if found else position)
    opened = found[0]
    closed = yield from _balanced(reading, opened)
    try:
        arguments = parse_notation(reading.source.text[opened:closed])
    except NotationError:
        raise Broken(closed) from None
    end = yield from closed_by(reading, closed, _CLOSERS, marks(_OPEN))
    reading.call(name, arguments, start, end)
    return end


def _balanced(reading: Reading, position: int) -> Steps[int]:
    """The end of the brackets that open at `position`; those in strings do not count."""
    depth, quoted = 0, False
    while True:
        found = yield from reading.source.find(_INSIDE if quoted else _OUTSIDE, position)
        if found is None:
            raise Broken
        position = found[0] + len(found[1])
        if found[1] == QUOTE:
            quoted = not quoted
            continue
        depth += 1 if found[1] in "{[" else -1
        if depth == 0:
            return position


GEMMA: Final = Dialect(
    name="gemma4",
    tags=Tags(
        calls={_OPEN: Calls(read=_read, closers=_CLOSERS)},
        thoughts=(Thought("<|channel>thought", "<channel|>", edges="\n", prompted=False),),
        stops=("<turn|>", "<|tool_response>", "<eos>"),
    ),
    edges=Edges(gap=sentence_gap),
    signs=(r"<\|tool_call>", r"<\|channel>"),
)
