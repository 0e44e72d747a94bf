"""Calls that are written as JSON objects: which key holds the name and which the arguments.

Models write the OpenAI shape, its inside, or their template's own; the keys are those of a call object
(GRAMMAR 4), and keys that carry nothing for us (`id`, `type`, `index`) may stand beside them.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from messaging.strict_json import StrictJsonError, load_object

_NAME: Final = "name"
_ARGUMENTS: Final = ("arguments", "parameters")
_BESIDE: Final = frozenset({"id", "type", "index"})


class Named(NamedTuple):
    """A tool's name and its arguments."""

    name: str
    arguments: dict[str, Any]


def _arguments(value: Any) -> dict[str, Any] | None:
    if isinstance(value, str):  # the OpenAI shape: JSON in a string
        try:
            return load_object(value)
        except StrictJsonError:
            return None
    return value if isinstance(value, dict) else None


def named_call(value: Any, *, bare: bool = False) -> Named | None:
    """The call that `value` is, or None. `bare`: the arguments may be missing."""
    if not isinstance(value, dict):
        return None
    if isinstance(value.get("function"), dict) and value.keys() <= {"function", *_BESIDE}:
        value = value["function"]
    given = [key for key in _ARGUMENTS if key in value]
    name = value.get(_NAME)
    if not isinstance(name, str) or len(given) != 1 - (bare and not given):
        return None
    if value.keys() - {_NAME, *given, *_BESIDE}:
        return None
    arguments = _arguments(value[given[0]]) if given else {}
    return None if arguments is None else Named(name, arguments)
