"""Fields for an op's arguments, made from its schema. What no field fits is written as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Field:
    """`kind` is `text`, `long`, `number`, `flag`, `choice` or `json`; `example` stands in an empty one."""

    name: str
    kind: str
    required: bool
    purpose: str
    choices: tuple[str, ...] = ()
    default: str = ""
    example: str = ""


_KINDS: Final = {"integer": "number", "number": "number", "boolean": "flag", "string": "text"}
# Arguments that are written in sentences.
_LONG: Final = frozenset(("text", "prompt", "body", "reason"))


def fields(schema: Mapping[str, Any], example: Mapping[str, Any]) -> Iterator[Field]:
    """One field an argument, in the order of the schema."""
    for name, shape in schema.get("properties", {}).items():
        default, shown = shape.get("default"), example.get(name)
        yield Field(
            name=name,
            kind=_kind(name, shape),
            required=name in schema.get("required", ()),
            purpose=shape.get("description", ""),
            choices=tuple(map(str, shape.get("enum", ()))),
            default="" if default is None else _plain(default),
            example="" if shown is None else _plain(shown),
        )


def _kind(name: str, shape: Mapping[str, Any]) -> str:
    if "enum" in shape:
        return "choice"
    kinds = {one.get("type") for one in shape.get("anyOf", (shape,))} - {"null"}
    if len(kinds) != 1:
        return "text" if kinds == {"string", "integer"} else "json"
    kind = _KINDS.get(str(kinds.pop()), "json")
    return "long" if kind == "text" and name in _LONG else kind


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
