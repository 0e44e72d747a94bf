"""Kimi K3: reasoning, response and calls as elements between `<|open|>`, `<|sep|>` and `<|close|>`.

Source of the format: the encoder and chat template of moonshotai/Kimi-K3. Attributes are escaped as in XML,
bodies are raw; each argument names its type.
"""

from __future__ import annotations

import re
from typing import Any, Final

from harvester.dialects.rawvalues import closed_value
from harvester.dialects.reading import Broken, Reading
from harvester.dialects.source import Steps, marks
from harvester.dialects.tagged import Thought
from messaging.strict_json import StrictJsonError, loads


def _opening(element: str) -> str:
    return f"<|open|>{element}<|sep|>"


def _closing(element: str) -> str:
    return f"<|close|>{element}<|sep|>"


RESPONSE, RESPONSE_END = _opening("response"), _closing("response")
THOUGHT: Final = Thought(_opening("think"), _closing("think"), next=(RESPONSE,))
TOOLS, TOOLS_END = _opening("tools"), _closing("tools")
MESSAGE_END: Final = _closing("message")

_CALL, _CALL_END = "<|open|>call ", _closing("call")
_ARGUMENT, _ARGUMENT_END = "<|open|>argument ", _closing("argument")
_SEP: Final = marks("<|sep|>")
_AFTER_ARGUMENT: Final = marks(_ARGUMENT, _CALL_END)

_ATTRIBUTE: Final = re.compile(r'(\w+)="([^"]*+)"')
_ENTITIES: Final = (("&quot;", '"'), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"))


def _unescaped(text: str) -> str:
    for entity, character in _ENTITIES:
        text = text.replace(entity, character)
    return text


def _attributes(reading: Reading, position: int) -> Steps[tuple[dict[str, str], int]]:
    """The attributes from `position` to the separator, and the place behind it."""
    written, place = yield from reading.upto(position, _SEP)
    found = {name: _unescaped(value) for name, value in _ATTRIBUTE.findall(written)}
    return found, place + len("<|sep|>")


def read_tools(reading: Reading, _start: int, position: int) -> Steps[int]:
    """The calls of a `tools` element."""
    while True:
        position = yield from reading.source.blanks(position)
        behind = yield from reading.expect(position, _CALL, TOOLS_END)
        if reading.source.text.startswith(TOOLS_END, position):
            return behind
        position = yield from _read_call(reading, position, behind)


def _read_call(reading: Reading, start: int, position: int) -> Steps[int]:
    attributes, position = yield from _attributes(reading, position)
    arguments: dict[str, Any] = {}
    while True:
        position = yield from reading.source.blanks(position)
        behind = yield from reading.expect(position, _ARGUMENT, _CALL_END)
        if reading.source.text.startswith(_CALL_END, position):
            reading.call(attributes.get("tool", ""), arguments, start, behind)
            return behind
        position = yield from _argument(reading, arguments, behind)


def _argument(reading: Reading, arguments: dict[str, Any], position: int) -> Steps[int]:
    attributes, position = yield from _attributes(reading, position)
    value = yield from closed_value(reading.source, position, marks(_ARGUMENT_END), _AFTER_ARGUMENT)
    key = attributes.get("key")
    if key is None or key in arguments:
        raise Broken(value.end)
    try:
        arguments[key] = value.text if attributes.get("type", "string") == "string" else loads(value.text)
    except StrictJsonError:
        raise Broken(value.end) from None
    return value.end
