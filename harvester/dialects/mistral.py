"""Mistral: `[TOOL_CALLS]` before an array of calls (v3 to v7) or before `name[ARGS]{…}` (v11 and later).

Source of the format: mistral-common's tokenizers v3, v7, v11 and v13, and their `[THINK]`; Magistral
2506 has `<think>` in plain text. `[CALL_ID]` may stand between name and arguments; `[ARGS]` may be missing.
"""

from __future__ import annotations

import re
from typing import Final

from harvester.dialects.dialect import Dialect
from harvester.dialects.jsoncalls import named_call
from harvester.dialects.reading import Broken, NoOpener, Reading
from harvester.dialects.source import Steps, marks
from harvester.dialects.tagged import Calls, Tags, Thought

_CALLS, _CALL_ID, _ARGS = "[TOOL_CALLS]", "[CALL_ID]", "[ARGS]"

_NAME: Final = re.compile(r"[A-Za-z0-9_.:/-]+")
_NAME_END: Final = marks(_CALL_ID, _ARGS, "{")
_ID_END: Final = marks(_ARGS, "{")
_MAX_NAME: Final = 256


def _read(reading: Reading, start: int, position: int) -> Steps[int]:
    position = yield from reading.source.blanks(position)
    first = yield from reading.source.char(position)
    if not first:
        raise Broken
    if first in "[{":
        return (yield from _read_array(reading, start, position))
    return (yield from _read_named(reading, start, position))


def _read_array(reading: Reading, start: int, position: int) -> Steps[int]:
    value, end = yield from reading.json(position)
    items = value if isinstance(value, list) else [value]
    calls = [call for item in items if (call := named_call(item, bare=True))]
    if len(calls) < len(items):
        raise Broken(end)
    for call in calls:
        reading.call(*call, start, end)
    return end


def _read_named(reading: Reading, start: int, position: int) -> Steps[int]:
    found = yield from reading.source.find_near(_NAME_END, position, _MAX_NAME)
    if found is None:
        named = _NAME.match(reading.source.text, position, position + _MAX_NAME)
        cut = named and (yield from reading.source.cut_in(named.end(), _NAME_END))
        raise Broken if cut else NoOpener
    name = reading.source.text[position : found[0]].strip()
    if not _NAME.fullmatch(name):
        raise NoOpener
    position, marker = found[0] + len(found[1]), found[1]
    if marker == _CALL_ID:
        found = yield from reading.source.find_near(_ID_END, position, _MAX_NAME)
        if found is None:
            raise Broken(position)
        position, marker = found[0] + len(found[1]), found[1]
    position = yield from reading.source.blanks(position - (marker == "{"))
    arguments, end = yield from reading.json_object(position)
    reading.call(name, arguments, start, end)
    return end


MISTRAL: Final = Dialect(
    name="mistral",
    tags=Tags(
        calls={_CALLS: Calls(read=_read, closers=marks("\n"))},
        thoughts=(
            Thought("[THINK]", "[/THINK]", prompted=False),
            Thought("<think>", "</think>", edges="\n", prompted=False),
        ),
        stops=("</s>",),
    ),
    signs=(r"\[TOOL_CALLS\]", r"\[THINK\]"),
)
