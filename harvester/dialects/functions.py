"""`<function=name>` around `<parameter=name>value</parameter>`, as Qwen3-Coder and Qwen 3.5 write it.

Source of the format: the chat templates of Qwen3-Coder-30B-A3B-Instruct, Qwen3-Coder-Next, Qwen3.5-9B and
Qwen3.8-27B. A value stands on lines of its own, and exactly one line break on either side of it is markup.
What models leave out by mistake and is still unambiguous is read: the closing tag of a value before the next
parameter or the end of the function.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
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
_KEY: Final = re.compile(r"[^\n<>]+")  # an argument may have blanks in its name
_TAG_END: Final = marks(">")
_ENDINGS: Final = marks(_END_PARAMETER, _PARAMETER, END_FUNCTION)
_NEXT: Final = marks(_PARAMETER, END_FUNCTION, END_CALL)
_AFTER_FUNCTION: Final = marks(END_CALL, FUNCTION)
# A name is short; a `>` that is farther away closes something else. Characters.
MAX_NAME: Final = 256


def tag_name(reading: Reading, position: int, pattern: re.Pattern[str] = _NAME) -> Steps[tuple[str, int]]:
    """The name up to the `>`, and the place behind that."""
    found = yield from reading.source.find_near(_TAG_END, position, MAX_NAME)
    name = reading.source.text[position : found[0]] if found else ""
    if found is None or not pattern.fullmatch(name):
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
        key, start = yield from tag_name(reading, position + len(_PARAMETER), _KEY)
        if key in arguments:
            raise Broken(start)
        given = frozenset((*arguments, key))
        value = yield from _Values(reading=reading, tool=name, given=given, wrapped=wrapped).at(start)
        arguments[key] = reading.tools.value(name, key, value.text)
        position = value.end


@dataclass(frozen=True, slots=True, kw_only=True)
class _Values:
    """Finds where a value ends that may hold any markup: where the structure goes on behind it.

    A value that begins on a line of its own ends at one; `given` are the names of the arguments so far.
    """

    reading: Reading
    tool: str
    given: frozenset[str]
    wrapped: bool

    def at(self, start: int) -> Steps[Value]:
        """The value that begins at `start`."""
        source = self.reading.source
        lined = (yield from source.char(start)) == "\n"
        start += lined
        position = start
        while True:
            found = yield from source.find(_ENDINGS, position)
            if found is None:
                raise Broken
            place, marker = found
            begins_line = place == start or source.text[place - 1] == "\n"
            if (yield from self._ends(marker, place + len(marker), lined=lined, begins_line=begins_line)):
                text, closed = source.text[start:place], marker == _END_PARAMETER
                end = place + len(marker) if closed else place
                return Value(text.removesuffix("\n") if lined or not closed else text, end)
            position = place + len(marker)

    def _ends(self, marker: str, behind: int, *, lined: bool, begins_line: bool) -> Steps[bool]:
        """Does the marker that ends at `behind` belong to the structure?"""
        if marker == _PARAMETER:
            return begins_line and (yield from self._begins_parameter(behind))
        if marker == END_FUNCTION:
            return begins_line and (yield from self._ends_function(behind))
        source = self.reading.source
        ends_line = (yield from source.char(behind)) in ("\n", "")
        if lined and not (begins_line or ends_line):
            return False
        behind = yield from source.blanks(behind)
        following = yield from source.marker_at(behind, _NEXT)
        if following == END_FUNCTION:
            return (yield from self._ends_function(behind + len(following)))
        return following == _PARAMETER or (following == END_CALL and self.wrapped)

    def _begins_parameter(self, position: int) -> Steps[bool]:
        """Is it an argument that the tool has and that was not given yet?"""
        source = self.reading.source
        found = yield from source.find_near(_TAG_END, position, MAX_NAME)
        name = source.text[position : found[0]] if found else ""
        known = self.reading.tools.arguments(self.tool)
        return name not in self.given and (name in known if known else _NAME.fullmatch(name) is not None)

    def _ends_function(self, behind: int) -> Steps[bool]:
        """`</function>` ends the function if the call ends or goes on behind it."""
        source = self.reading.source
        position = yield from source.blanks(behind)
        if not self.wrapped or (yield from source.marker_at(position, _AFTER_FUNCTION)):
            return True
        return not (yield from source.char(position))
