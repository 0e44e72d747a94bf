"""GLM 4.5 to 5: `<tool_call>name` with `<arg_key>` and `<arg_value>` pairs, with or without line breaks.

Source of the format: the chat templates of zai-org/GLM-4.5, GLM-4.7 and GLM-5. They strip the content, write
strings raw and everything else as JSON, so that only the tool's schema tells `3` from `"3"`.
"""

from __future__ import annotations

import re
from typing import Any, Final

from harvester.dialects.dialect import Dialect
from harvester.dialects.hermes import CLOSE, OPEN
from harvester.dialects.rawvalues import Value
from harvester.dialects.reading import Broken, NoOpener, Reading
from harvester.dialects.source import Steps, marks
from harvester.dialects.tagged import Calls, Tags, Thought
from harvester.dialects.writer import Edges, drop_gap

_KEY, _END_KEY = "<arg_key>", "</arg_key>"
_VALUE, _END_VALUE = "<arg_value>", "</arg_value>"

_NAME: Final = re.compile(r"[^\s<>{}]+")
_NAME_END: Final = marks("\n", _KEY, CLOSE)
_ENDINGS: Final = marks(_END_VALUE, CLOSE)
_NEXT: Final = marks(_KEY, CLOSE, OPEN)
_MAX_NAME: Final = 256


def _read(reading: Reading, start: int, position: int) -> Steps[int]:
    position = yield from reading.source.blanks(position)
    found = yield from reading.source.find_near(_NAME_END, position, _MAX_NAME)
    name = reading.source.text[position : found[0] if found else None].rstrip()
    if found is None and len(name) < _MAX_NAME:
        raise Broken
    if found is None or not _NAME.fullmatch(name):
        raise NoOpener
    arguments: dict[str, Any] = {}
    position = found[0]
    while True:
        behind = yield from reading.source.blanks(position)
        if not (yield from reading.source.marker_at(behind, marks(_KEY))):
            end = yield from reading.expect(behind, CLOSE, *((OPEN,) if arguments else ()))
            end = position if reading.source.text.startswith(OPEN, behind) else end
            reading.call(name, arguments, start, end)
            return end
        position = yield from _argument(reading, name, arguments, behind + len(_KEY))


def _argument(reading: Reading, tool: str, arguments: dict[str, Any], position: int) -> Steps[int]:
    key, place = yield from reading.upto(position, marks(_END_KEY))
    position = yield from reading.source.blanks(place + len(_END_KEY))
    position = yield from reading.expect(position, _VALUE)
    key = key.strip()
    if key in arguments:
        raise Broken(position)
    value = yield from _value(reading, position)
    arguments[key] = reading.tools.value(tool, key, value.text, untyped="json")
    return value.end


def _value(reading: Reading, start: int) -> Steps[Value]:
    """A value ends at its closing tag; where a model left that out, at the end of its call."""
    source, position = reading.source, start
    while True:
        found = yield from source.find(_ENDINGS, position)
        if found is None:
            raise Broken
        place, marker = found
        behind = yield from source.blanks(place + len(marker))
        end = place + len(marker) if marker == _END_VALUE else place
        following = _NEXT if marker == _END_VALUE else marks(OPEN)
        if (yield from source.marker_at(behind, following)) or (yield from reading.reply_ends(behind)):
            return Value(source.text[start:place], end)
        position = place + len(marker)


GLM: Final = Dialect(
    name="glm",
    tags=Tags(
        calls={OPEN: Calls(read=_read, closers=marks(CLOSE))},
        thoughts=(Thought("<think>", "</think>", edges="\n"),),
        stops=("<|user|>", "<|observation|>", "<|endoftext|>"),
    ),
    edges=Edges(start=" \t\r\n", gap=drop_gap),
    signs=(r"<arg_key>", r"<tool_call>\s*[^\s<>{}]+\s*</tool_call>"),
)
