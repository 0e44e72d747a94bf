"""The message of the OpenAI API written out as text: `{"tool_calls": [{"function": {…}}]}`, or its array."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from harvester.dialects.dialect import Dialect
from harvester.dialects.jsoncalls import Named, named_call
from harvester.dialects.unmarked import Unmarked, read_unmarked
from messaging.strict_json import StrictJsonError, loads

_BESIDE: Final = {"role": ("assistant",), "content": (None, "")}


def _listed(value: Any) -> list[Any]:
    """The items that have to be calls; none if the value is no such message."""
    if not isinstance(value, dict) or "tool_calls" not in value:
        return value if isinstance(value, list) else [value]
    beside = {key: said for key, said in value.items() if key != "tool_calls"}
    plain = all(key in _BESIDE and said in _BESIDE[key] for key, said in beside.items())
    return value["tool_calls"] if plain and isinstance(value["tool_calls"], list) else []


def _decode(text: str) -> tuple[Named, ...]:
    try:
        items = _listed(loads(text))
    except StrictJsonError:
        return ()
    found = [named_call(item) for item in items]
    calls = tuple(call for call in found if call is not None)
    return calls if len(calls) == len(found) else ()


OPENAI: Final = Dialect(
    name="openai",
    machine=partial(read_unmarked, Unmarked(decode={"{": _decode, "[": _decode})),
    signs=(r'\A\s*\{[^{}]*"tool_calls"\s*:', r'\A\s*\[?\s*\{[^{}]*"function"\s*:\s*\{'),
)
