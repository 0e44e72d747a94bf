"""DeepSeek V3, R1 and V3.1: a section of calls between tool tokens. V3.2 and later are in dsml.py.

Source of the format: the chat templates of deepseek-ai/DeepSeek-V3-0324, DeepSeek-R1-0528 and DeepSeek-V3.1.
V3 writes `function`, the name on a line and the arguments in a json fence; V3.1 the name and the arguments.
"""

from __future__ import annotations

from typing import Final

from harvester.dialects.dialect import Dialect
from harvester.dialects.dsml import DSML_SIGN, dsml_calls
from harvester.dialects.reading import Broken, Reading
from harvester.dialects.source import Steps, marks
from harvester.dialects.tagged import Calls, Tags, Thought
from harvester.dialects.writer import Edges

_SECTION, _SECTION_END = "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"
_CALL, _CALL_END = "<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>"
_SEP: Final = "<｜tool▁sep｜>"
_FENCE: Final = "```"

_NEXT: Final = marks(_CALL, _SECTION_END)
_CLOSERS: Final = marks(_CALL_END, _SECTION_END)
_HEAD_END: Final = marks(_SEP, _CALL_END, _SECTION_END)
_NAME_END: Final = marks("\n", _CALL_END, _SECTION_END)


def template_gap(_before: str, gap: str) -> str:
    """V3.2 and later write one blank line before the calls; the older ones nothing."""
    return gap.removesuffix("\n\n")


def _read_section(reading: Reading, _start: int, position: int) -> Steps[int]:
    while True:
        found = yield from reading.source.find(_NEXT, position)
        if found is None:
            raise Broken
        position = found[0] + len(found[1])
        if found[1] == _SECTION_END:
            return position
        try:
            position = yield from _read_one(reading, found[0], position)
        except Broken as broken:
            position = yield from reading.recover(broken, found[0], _CLOSERS)


def _read_one(reading: Reading, start: int, position: int) -> Steps[int]:
    head, place = yield from reading.upto(position, _HEAD_END)
    position = yield from reading.expect(place, _SEP)
    behind = yield from reading.source.blanks(position)
    if (yield from reading.source.char(behind)) == "{":
        name = head
    else:
        name, position = yield from reading.upto(position, _NAME_END)
        position = yield from reading.source.blanks(position)
        behind = yield from reading.expect(position, f"{_FENCE}json", "{")
        behind = behind - 1 if reading.source.text[behind - 1] == "{" else behind
        behind = yield from reading.source.blanks(behind)
    arguments, position = yield from reading.json_object(behind)
    end = yield from _closed(reading, position)
    reading.call(name.strip(), arguments, start, end)
    return end


def _closed(reading: Reading, position: int) -> Steps[int]:
    position = yield from reading.source.blanks(position)
    if (yield from reading.source.marker_at(position, marks(_FENCE))):
        position = yield from reading.source.blanks(position + len(_FENCE))
    return (yield from reading.expect(position, _CALL_END))


DEEPSEEK: Final = Dialect(
    name="deepseek",
    tags=Tags(
        calls={
            _SECTION: Calls(read=_read_section, closers=marks(_SECTION_END)),
            _CALL: Calls(read=_read_one, closers=_CLOSERS),
            **dsml_calls(),
        },
        thoughts=(Thought("<think>", "</think>"),),
        silent=(_SECTION_END,),
        stops=("<｜end▁of▁sentence｜>",),
    ),
    edges=Edges(gap=template_gap),
    signs=(r"<｜tool▁calls?▁begin｜>", DSML_SIGN),
)
