"""`<function=name>{…}</function>`, as Llama 3.1 documents it for own tools; also with parameters."""

from __future__ import annotations

from typing import Final

from harvester.dialects.dialect import Dialect
from harvester.dialects.functions import END_FUNCTION, FUNCTION, read_function, tag_name
from harvester.dialects.reading import Reading
from harvester.dialects.source import Steps, marks
from harvester.dialects.tagged import Calls, Tags, Thought
from harvester.dialects.writer import Edges, drop_gap


def _read(reading: Reading, start: int, position: int) -> Steps[int]:
    name, behind = yield from tag_name(reading, position)
    behind = yield from reading.source.blanks(behind)
    if (yield from reading.source.char(behind)) != "{":
        name, arguments, end = yield from read_function(reading, position, wrapped=False)
    else:
        arguments, end = yield from reading.json_object(behind)
        end = yield from reading.expect((yield from reading.source.blanks(end)), END_FUNCTION)
    reading.call(name, arguments, start, end)
    return end


FUNCTION_TAG: Final = Dialect(
    name="function",
    tags=Tags(
        calls={FUNCTION: Calls(read=_read, closers=marks(END_FUNCTION))},
        thoughts=(Thought("<think>", "</think>", edges="\n"),),
    ),
    edges=Edges(gap=drop_gap),
    signs=(r"<function=[^\s<>=]+>\s*\{",),
)
