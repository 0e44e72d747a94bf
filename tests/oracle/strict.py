"""RFC 8259 and nothing beyond, with the limits of GRAMMAR 4; Python's `json` with hooks of its own."""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

DEEPEST = 64
MOST_DIGITS = 4300
_SURROGATE = re.compile("[\ud800-\udfff]")
_BLANKS = " \t\r\n"


class NotStrictError(ValueError):
    """The text is no JSON value, or one that GRAMMAR 4 calls broken."""


def value(text: str) -> Any:
    """The JSON value that is all of `text`, blanks around it allowed."""
    if _levels(text) > DEEPEST:
        raise NotStrictError("levels")
    try:
        found = json.loads(
            text.strip(_BLANKS),
            object_pairs_hook=_object,
            parse_constant=_refuse,
            parse_float=_float,
            parse_int=_int,
        )
    except (ValueError, RecursionError) as error:
        raise NotStrictError(str(error)) from error
    _no_surrogates(found)
    return found


def balanced(text: str, start: int) -> int | None:
    """Where the brace at `start` is closed (behind it), knowing strings and escapes (GRAMMAR 1)."""
    depth, quoted, at = 0, False, start
    while at < len(text):
        char = text[at]
        if quoted and char == "\\":
            at += 1
        elif char == '"':
            quoted = not quoted
        elif not quoted and char in "{}":
            depth += 1 if char == "{" else -1
            if depth == 0:
                return at + 1
        at += 1
    return None


def _levels(text: str) -> int:
    """How deep objects and arrays nest, brackets in strings apart."""
    bare = re.sub(r'"(?:[^"\\]|\\.)*"', "", text, flags=re.DOTALL)
    depth = deepest = 0
    for char in bare:
        depth += (char in "{[") - (char in "}]")
        deepest = max(deepest, depth)
    return deepest


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise NotStrictError("duplicate key")
    return found


def _refuse(word: str) -> NoReturn:
    raise NotStrictError(word)


def _float(digits: str) -> float:
    found = float(digits)
    if math.isinf(found):
        raise NotStrictError("overflow")
    return found


def _int(digits: str) -> int:
    if len(digits.lstrip("-")) > MOST_DIGITS:
        raise NotStrictError("digits")
    return int(digits)


def _no_surrogates(found: Any) -> None:
    """Lone surrogates are broken wherever they stand, in keys too."""
    if isinstance(found, str) and _SURROGATE.search(found):
        raise NotStrictError("lone surrogate")
    for inner in _inner(found):
        _no_surrogates(inner)


def _inner(found: Any) -> list[Any]:
    if isinstance(found, dict):
        return [*found.keys(), *found.values()]
    return found if isinstance(found, list) else []
