"""`<function=name>` around `<parameter=name>value</parameter>`, as Qwen3-Coder and Qwen 3.5 write it.

Source of the format: the chat templates of Qwen3-Coder-30B-A3B-Instruct, Qwen3-Coder-Next, Qwen3.5-9B and
Qwen3.8-27B. A value stands on lines of its own, and exactly one line break on either side of it is markup.
What models leave out by mistake and is still unambiguous is read: the closing tag of a value before the next
parameter or the end of the function.
"""

from __future__ import annotations

import re
from typing import Any, Final

from harvester.dialects.rawvalues import Value
from harvester.dialects.reading import Broken, Reading
from harvester.dialects.source import Steps, marks

FUNCTION: Final = "<function="
END_FUNCTION: Final = "</function>"
_PARAMETER: Final = "<parameter="
_END_PARAMETER: Final = "</parameter>"
END_CALL: Final = "</tool_call>"

_NAME: Final = re.compile(r"[^\s<>=]+")
_TAG_END: Final = marks(">")
_ENDINGS: Final = marks(_END_PARAMETER, _PARAMETER, END_FUNCTION)
_NEXT: Final = marks(_PARAMETER, END_FUNCTION, END_CALL)
_AFTER_FUNCTION: Final = marks(END_CALL, FUNCTION)
# A name is short; a `>` that is farther away closes something else. Characters.
MAX_NAME: Final = 256


def tag_name(reading: Reading, position: int) -> Steps[tuple[str, int]]:
    """The name up to the `>`, and the place behind that."""
    found = yield from reading.source.find_near(_TAG_END, position, MAX_NAME)
    name = reading.source.text[position : found[0]] if found else ""
    if found is None or not _NAME.fullmatch(name):
        raise Broken(position)
    return name, found[0] + 1


def read_function(
    reading: Reading, position: int, *, wrapped: bool
) -> Steps[tuple[str, dict[str, Any], int]]:
    """Name, arguments and end of the function whose name is at `position`.

    `wrapped`: the function stands in a `<tool_call>`, so that has to close behind it.
    """
    name, position = yield from tag_name(reading, position)
    arguments: dict[str, Any] = {}
    while True:
        position = yield from reading.source.blanks(position)
        marker = yield from reading.source.marker_at(position, _NEXT)
        if marker == END_CALL and wrapped:
            return name, arguments, position
        if marker == END_FUNCTION:
            return name, arguments, position + len(marker)
        if marker != _PARAMETER:
            raise Broken(position)
        key, start = yield from tag_name(reading, position + len(_PARAMETER))
        if key in arguments:
            raise Broken(start)
        value = yield from _Parameter(reading, name, frozenset(arguments) | {key}, wrapped).value(start)
        arguments[key] = reading.tools.value(name, key, value.text)
        position = value.end


class _Parameter:
    """Finds the end of one value."""

    def __init__(self, reading: Reading, tool: str, given: frozenset[str], wrapped: bool) -> None:  # noqa: FBT001
        self._reading = reading
        self._source = reading.source
        self._tool = tool
        self._given = given
        self._wrapped = wrapped

    def value(self, start: int) -> Steps[Value]:
        lined = (yield from self._source.char(start)) == "\n"
        start += lined
        position = start
        while True:
            found = yield from self._source.find(_ENDINGS, position)
            if found is None:
                raise Broken
            place, marker = found
            if (yield from self._ends(place, marker, start, lined)):
                text = self._source.text[start:place]
                end = place + (len(marker) if marker == _END_PARAMETER else 0)
                return Value(text.removesuffix("\n") if lined else text, end)
            position = place + len(marker)

    def _ends(self, place: int, marker: str, start: int, lined: bool) -> Steps[bool]:  # noqa: FBT001
        """Does the marker at `place` belong to the structure?"""
        text = self._source.text
        begins_line = place == start or text[place - 1] == "\n"
        if marker == _PARAMETER:
            return lined and begins_line and (yield from self._begins_parameter(place + len(marker)))
        if marker == END_FUNCTION:
            return lined and begins_line and (yield from self._ends_function(place + len(marker)))
        behind = place + len(marker)
        ends_line = (yield from self._source.char(behind)) in ("\n", "")
        if lined and not (begins_line or ends_line):
            return False
        behind = yield from self._source.blanks(behind)
        following = yield from self._source.marker_at(behind, _NEXT)
        if following == END_FUNCTION:
            return (yield from self._ends_function(behind + len(following)))
        return following == _PARAMETER or (following == END_CALL and self._wrapped)

    def _begins_parameter(self, position: int) -> Steps[bool]:
        """Is it an argument that the tool has and that was not given yet?"""
        found = yield from self._source.find_near(_TAG_END, position, MAX_NAME)
        name = self._source.text[position : found[0]] if found else ""
        known = self._reading.tools.arguments(self._tool)
        return name not in self._given and (name in known if known else _NAME.fullmatch(name) is not None)

    def _ends_function(self, behind: int) -> Steps[bool]:
        """`</function>` ends the function if the call ends or goes on behind it."""
        position = yield from self._source.blanks(behind)
        if not self._wrapped or (yield from self._source.marker_at(position, _AFTER_FUNCTION)):
            return True
        return not (yield from self._source.char(position))
