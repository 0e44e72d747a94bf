"""Tables of fields: how each value of this protocol is read from JSON and written back.

A table maps the attribute of a dataclass to its key on the wire. Keys that no table names are passed over:
the other side may be newer (T-16).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from messaging.errors import MessagingError


class WireError(MessagingError, ValueError):
    """A document of this protocol that is not one. `field` is the key on the wire, "" for the whole."""

    def __init__(self, problem: str, field: str = "") -> None:
        super().__init__(f"{field}: {problem}" if field else problem)
        self.field = field
        self.problem = problem


Read = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Key:
    """One key. `default` stands for a missing or null value; `always` writes null instead of nothing."""

    name: str
    read: Read
    required: bool = False
    default: Any = None
    always: bool = False


Table = Mapping[str, Key]


def text(value: Any) -> str:
    """A string."""
    if not isinstance(value, str):
        raise WireError("must be a string")
    return value


def some_text(value: Any) -> str:
    """A string that says something."""
    if not text(value).strip():
        raise WireError("must not be empty")
    return str(value)


def flag(value: Any) -> bool:
    """true or false; 1 is neither."""
    if not isinstance(value, bool):
        raise WireError("must be true or false")
    return value


def count(value: Any) -> int:
    """A whole number from 0 on."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise WireError("must be a whole number, 0 or more")
    return value


def number(value: Any) -> float:
    """Any number."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise WireError("must be a number")
    return float(value)


def texts(value: Any) -> tuple[str, ...]:
    """A list of strings."""
    if not isinstance(value, list):
        raise WireError("must be a list of strings")
    return tuple(text(item) for item in value)


def mapping(value: Any) -> dict[str, Any]:
    """An object, whatever is in it."""
    if not isinstance(value, dict):
        raise WireError("must be an object")
    return value


def one_of(*words: str) -> Read:
    """One of a few words."""

    def read(value: Any) -> str:
        if value not in words:
            raise WireError(f"must be one of {', '.join(words)}")
        return str(value)

    return read


def read_fields(table: Table, document: Any) -> dict[str, Any]:
    """Attribute -> value; raises `WireError` for the first field that is not right."""
    mapping(document)
    return {attribute: _value(key, document.get(key.name)) for attribute, key in table.items()}


def _value(key: Key, value: Any) -> Any:
    if value is None:
        if key.required:
            raise WireError("is missing", key.name)
        return key.default
    try:
        return key.read(value)
    except WireError as wrong:
        field = f"{key.name}.{wrong.field}" if wrong.field else key.name
        raise WireError(wrong.problem, field) from None


def write_fields(table: Table, value: Any) -> dict[str, Any]:
    """The inverse: what is None or its default is left out."""
    found = ((key, getattr(value, attribute)) for attribute, key in table.items())
    return {key.name: plain(item) for key, item in found if key.always or item not in (None, key.default)}


def plain(value: Any) -> Any:
    """As JSON holds it."""
    if hasattr(value, "to_json"):
        return value.to_json()
    return list(value) if isinstance(value, tuple) else value
