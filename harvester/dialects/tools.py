"""The tools that were offered, and what type their schemas say that an argument has.

Formats that write arguments as raw text (`<parameter=zip>02139`) leave the type to the schema. Nothing is
guessed: a text that is no value of the type stays the text, and whoever runs the call refuses it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from harvester.dialects.literals import LiteralError, parse_literal
from messaging.strict_json import StrictJsonError, loads

_PYTHON_WORDS: Final = {"True": True, "False": False, "None": None}
# Schemas that are made from Python's annotations name types as Python does.
_PYTHON_TYPES: Final = {
    "bool": "boolean",
    "dict": "object",
    "float": "number",
    "int": "integer",
    "list": "array",
    "str": "string",
}
_NULLS: Final = ("null", "None")
_TYPE_OF: Final = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}


def _referred(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """What a reference into the tool's own schema, `#/$defs/Name`, stands for."""
    steps = schema.get("$ref")
    found: Any = root
    for step in steps.split("/")[1:] if isinstance(steps, str) and steps.startswith("#/") else (None,):
        found = found.get(step) if isinstance(found, Mapping) else None
    if isinstance(found, Mapping):
        yield found


def _alternatives(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield from _referred(schema, root)
    for key in ("anyOf", "oneOf", "allOf"):
        rows = schema.get(key)
        if isinstance(rows, list):
            yield from (row for row in rows if isinstance(row, dict))


def _written_types(schema: Mapping[str, Any]) -> Iterator[str]:
    named = schema.get("type")
    if isinstance(named, str):
        yield named
    elif isinstance(named, list):
        yield from (name for name in named if isinstance(name, str))
    elif "const" in schema:
        yield _TYPE_OF.get(type(schema["const"]), "object")
    elif isinstance(schema.get("enum"), list):
        yield from (_TYPE_OF.get(type(value), "object") for value in schema["enum"])
    if schema.get("nullable") is True:
        yield "null"


def types_of(schema: Mapping[str, Any], root: Mapping[str, Any]) -> frozenset[str]:
    """The JSON types that `schema`, a part of `root`, allows by name; empty where it does not say."""
    found: set[str] = set()
    seen = {id(schema)}  # a reference may lead back
    waiting = [schema]
    while waiting:
        row = waiting.pop()
        found.update(_PYTHON_TYPES.get(name, name) for name in _written_types(row))
        fresh = [inner for inner in _alternatives(row, root) if id(inner) not in seen]
        seen.update(map(id, fresh))
        waiting += fresh
    return frozenset(found)


def _has_type(value: Any, types: frozenset[str]) -> bool:
    if isinstance(value, bool):
        return "boolean" in types
    if isinstance(value, int | float):
        return bool(types & {"integer", "number"})
    if isinstance(value, dict):
        return "object" in types
    if isinstance(value, list):
        return "array" in types
    return ("null" if value is None else "string") in types


def json_or_text(text: str) -> Any:
    """The JSON value that `text` is, else `text` itself."""
    try:
        return loads(text)
    except StrictJsonError:
        return text


def word_or_json(text: str) -> Any:
    """As `json_or_text`, and Python's names of the constants: templates in Jinja write those."""
    return _PYTHON_WORDS[text] if text in _PYTHON_WORDS else json_or_text(text)


def _read_as(text: str, types: frozenset[str]) -> Any:
    """A text as a value. Models write lists and objects as Python has them, too."""
    value = word_or_json(text)
    if value is text and types & {"array", "object"}:
        try:
            return parse_literal(text)
        except LiteralError:
            return text
    return value


def typed(text: str, types: frozenset[str]) -> Any:
    """The value that the raw `text` of an argument stands for, if it is one of `types`; else the text.

    A string may be anything, so where a string is allowed too only null is read as something else.
    """
    if "string" in types:
        return None if text in _NULLS and "null" in types else text
    value = _read_as(text, types)
    return value if _has_type(value, types) else text


@dataclass(frozen=True, slots=True)
class Tools:
    """Schemas of the arguments objects, by tool. Empty: nothing is known about what was offered.

    `canonical` gives the name in `schemas` that a written name means.
    """

    schemas: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    canonical: Callable[[str], str] = str

    @classmethod
    def of(cls, tools: Iterable[Mapping[str, Any]]) -> Tools:
        """From the OpenAI shape, `{"type": "function", "function": {"name", "parameters"}}` or its inside."""
        schemas: dict[str, Mapping[str, Any]] = {}
        for tool in tools:
            function = tool.get("function", tool)
            if isinstance(function, Mapping) and isinstance(function.get("name"), str):
                schemas[function["name"]] = function.get("parameters") or {}
        return cls(schemas)

    def offers(self, name: str) -> bool:
        """Was the tool offered, as far as is known?"""
        return not self.schemas or self.canonical(name) in self.schemas

    def _schema(self, name: str) -> Mapping[str, Any]:
        return self.schemas.get(self.canonical(name), {})

    def arguments(self, name: str) -> Mapping[str, Any]:
        """The schemas of the arguments of a tool."""
        properties = self._schema(name).get("properties")
        return properties if isinstance(properties, Mapping) else {}

    def value(self, tool: str, argument: str, text: str, *, untyped: str = "string") -> Any:
        """The raw `text` of an argument as a value; `untyped` says how to read it without a type."""
        schema = self.arguments(tool).get(argument)
        types = types_of(schema, self._schema(tool)) if isinstance(schema, Mapping) else frozenset()
        if types:
            return typed(text, types)
        return text if untyped == "string" else json_or_text(text)
