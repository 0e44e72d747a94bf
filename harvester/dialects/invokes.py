"""`<invoke name="…">` around `<parameter name="…">value</parameter>`: one machine for all who write it so.

Anthropic's plain text form, MiniMax's and DeepSeek's DSML differ in the spelling of the tags and in who says
what type a value has; both are data: `Invokes`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from harvester.dialects.rawvalues import closed_value
from harvester.dialects.reading import Broken, Reading
from harvester.dialects.source import Steps, marks
from messaging.strict_json import StrictJsonError, loads

_TAG_END: Final = marks(">")
_ATTRIBUTE: Final = re.compile(r"""(\w+)\s*=\s*(?:"([^"]*+)"|'([^']*+)')""")
# A tag with its attributes is short; a `>` that is farther away closes something else. Characters.
_MAX_TAG: Final = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class Invokes:
    """How a family spells the tags, up to the attributes; `section` closes the block, if there is one."""

    invoke: str
    end_invoke: str
    parameter: str
    end_parameter: str
    end_section: str


@dataclass(frozen=True, slots=True)
class _Tag:
    attributes: dict[str, str]
    closed: bool  # <invoke name="x"/>
    end: int


def _tag(reading: Reading, position: int) -> Steps[_Tag]:
    found = yield from reading.source.find_near(_TAG_END, position, _MAX_TAG)
    if found is None:
        raise Broken(position)
    written = reading.source.text[position : found[0]]
    attributes = {name: double or single for name, double, single in _ATTRIBUTE.findall(written)}
    return _Tag(attributes, written.endswith("/"), found[0] + 1)


def read_section(reading: Reading, tags: Invokes, position: int) -> Steps[int]:
    """All invokes up to the end of the section; each is a call as soon as it is complete."""
    while True:
        position = yield from reading.source.blanks(position)
        behind = yield from reading.expect(position, tags.invoke, tags.end_section)
        if reading.source.text.startswith(tags.end_section, position):
            return behind
        position = yield from read_invoke(reading, tags, position, behind)


def read_invoke(reading: Reading, tags: Invokes, start: int, position: int) -> Steps[int]:
    """One invoke that opens at `start`, and whose attributes begin at `position`."""
    opened = yield from _tag(reading, position)
    arguments: dict[str, Any] = {}
    name = opened.attributes.get("name", "")
    position = opened.end
    while not opened.closed:
        position = yield from reading.source.blanks(position)
        behind = yield from reading.expect(position, tags.parameter, tags.end_invoke)
        if reading.source.text.startswith(tags.end_invoke, position):
            position = behind
            break
        position = yield from _parameter(reading, tags, name, arguments, behind)
    reading.call(name, arguments, start, position)
    return position


def _parameter(
    reading: Reading, tags: Invokes, tool: str, arguments: dict[str, Any], position: int
) -> Steps[int]:
    opened = yield from _tag(reading, position)
    following = marks(tags.parameter, tags.end_invoke)
    value = yield from closed_value(reading.source, opened.end, marks(tags.end_parameter), following)
    key = opened.attributes.get("name")
    if key is None or key in arguments:
        raise Broken(value.end)
    try:
        arguments[key] = _value(reading, opened.attributes.get("string"), tool, key, value.text)
    except StrictJsonError:
        raise Broken(value.end) from None
    return value.end


def _value(reading: Reading, string: str | None, tool: str, key: str, text: str) -> Any:
    """DSML says of each value whether it is a string; the others leave it to the schema."""
    if string is None:
        return reading.tools.value(tool, key, text, untyped="json")
    return text if string == "true" else loads(text)
