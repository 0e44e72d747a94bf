"""Kimi K2: a section of calls, each `functions.name:index` and its arguments as JSON; K3 is in xtml.py.

Source of the format: the chat templates of moonshotai/Kimi-K2-Instruct-0905 and Kimi-K2.6, and the guide to
tool calls in the repository. The name of the tool lives in the call's id.
"""

from __future__ import annotations

import re
from typing import Final

from harvester.dialects.dialect import Dialect
from harvester.dialects.hermes import closed_by
from harvester.dialects.reading import Broken, Reading
from harvester.dialects.source import Steps, marks
from harvester.dialects.tagged import Calls, Tags, Thought
from harvester.dialects.tools import Tools
from harvester.dialects.xtml import MESSAGE_END, RESPONSE, RESPONSE_END, THOUGHT, TOOLS, TOOLS_END, read_tools

# Models write the name of the section in the singular, too.
_SECTIONS: Final = ("<|tool_calls_section_begin|>", "<|tool_call_section_begin|>")
_SECTION_ENDS: Final = ("<|tool_calls_section_end|>", "<|tool_call_section_end|>")
_CALL: Final = "<|tool_call_begin|>"
_ARGUMENTS: Final = "<|tool_call_argument_begin|>"
_CALL_END: Final = "<|tool_call_end|>"

_NEXT: Final = marks(_CALL, *_SECTION_ENDS)
_CLOSERS: Final = marks(_CALL_END, *_SECTION_ENDS)
_ID_END: Final = marks(_ARGUMENTS, _CALL_END, *_SECTION_ENDS)
_ID: Final = re.compile(r"\s*(?:functions\.)?(?P<tool>\S+?)(?P<index>:\d+)?\s*")


def _tool_of(call_id: str, tools: Tools) -> str:
    """`functions.name:index` names the tool. Models leave out the prefix; and the index, which is taken for
    a part of no name only if the tool was offered.
    """
    found = _ID.fullmatch(call_id)
    if found is None or not (found["index"] or (tools.schemas and tools.offers(found["tool"]))):
        return ""
    return found["tool"]


def _read_section(reading: Reading, _start: int, position: int) -> Steps[int]:
    """Calls one after the other; what stands between them is noise."""
    source = reading.source
    while True:
        found = yield from source.find(_NEXT, position)
        if found is None:
            raise Broken
        position = found[0] + len(found[1])
        if found[1] in _SECTION_ENDS:
            return position
        try:
            position = yield from _read_one(reading, found[0], position)
        except Broken as broken:
            position = yield from reading.recover(broken, found[0], _CLOSERS)


def _read_one(reading: Reading, start: int, position: int) -> Steps[int]:
    call_id, place = yield from reading.upto(position, _ID_END)
    position = yield from reading.expect(place, _ARGUMENTS)
    position = yield from reading.source.blanks(position)
    arguments, position = yield from reading.json_object(position)
    end = yield from closed_by(reading, position, marks(_CALL_END), _NEXT)
    reading.call(_tool_of(call_id, reading.tools), arguments, start, end)
    return end


KIMI: Final = Dialect(
    name="kimi",
    tags=Tags(
        calls={
            **{opener: Calls(read=_read_section, closers=marks(*_SECTION_ENDS)) for opener in _SECTIONS},
            _CALL: Calls(read=_read_one, closers=_CLOSERS),
            TOOLS: Calls(read=read_tools, closers=marks(TOOLS_END)),
        },
        thoughts=(Thought("<think>", "</think>"), THOUGHT),
        silent=(*_SECTION_ENDS, RESPONSE, RESPONSE_END, MESSAGE_END),
        stops=("<|im_end|>", "<|end_of_msg|>"),
    ),
    signs=(r"<\|tool_calls?_(?:section_)?begin\|>", r"<\|(?:open|close)\|>\w+"),
)
