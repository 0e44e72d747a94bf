"""ReAct: a line `Action: tool`, then `Action Input:` and the arguments as a JSON object.

An object may stand in a fence; what is no object is no call, since a plain text names no argument.
"""

from __future__ import annotations

import re
from typing import Final

from harvester.dialects.dialect import Dialect
from harvester.dialects.reading import NoOpener, Reading
from harvester.dialects.source import Steps, marks
from harvester.dialects.tagged import Calls, Tags
from harvester.dialects.writer import Edges, drop_gap

_ACTION, _INPUT, _FENCE = "Action:", "Action Input:", "```"
_LINE_END: Final = marks("\n")
_NAME: Final = re.compile(r"[ \t]*`?([A-Za-z_][\w.-]*)`?[ \t\r]*")
_MAX_NAME: Final = 256


def _read(reading: Reading, start: int, position: int) -> Steps[int]:
    source = reading.source
    if start and source.text[start - 1] != "\n":
        raise NoOpener
    found = yield from source.find_near(_LINE_END, position, _MAX_NAME)
    name = _NAME.fullmatch(source.text, position, found[0]) if found else None
    if found is None or name is None:
        raise NoOpener
    tool = name[1]
    position = yield from source.blanks(found[0])
    if not (yield from source.marker_at(position, marks(_INPUT))):
        raise NoOpener
    position = yield from source.blanks(position + len(_INPUT))
    fence = yield from source.marker_at(position, marks(f"{_FENCE}json", f"{_FENCE}\n"))
    position = yield from source.blanks(position + len(fence or ""))
    arguments, end = yield from reading.json_object(position)
    if fence:
        end = yield from reading.expect((yield from source.blanks(end)), _FENCE)
    reading.call(tool, arguments, start, end)
    return end


REACT: Final = Dialect(
    name="react",
    tags=Tags(calls={_ACTION: Calls(read=_read, closers=_LINE_END)}),
    edges=Edges(gap=drop_gap),
    signs=(r"(?m)^Action:[^\n]+\n\s*Action Input:",),
)
