"""Strict RFC 8259 JSON, one reader for every place where untrusted JSON enters (GRAMMAR section 4).

Refused beyond what the standard module refuses: NaN and Infinity, numbers that overflow to infinity,
integers of more than 4,300 digits, duplicate keys at any depth (after unescaping), lone surrogates,
more than 64 levels. Nothing is repaired, nothing is converted: big integers stay integers.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any

from messaging.errors import MessagingError

# GRAMMAR 4: the outermost value is level 1. 64 is far above any call and far below Python's recursion limit.
MAX_LEVELS = 64
# GRAMMAR 4: where CPython's own guard against quadratic int() stands by default.
MAX_INTEGER_DIGITS = 4300

_SURROGATE = re.compile("[\ud800-\udfff]")
_STRING_OR_BRACKET = re.compile(r'"(?>(?:[^"\\]|\\.)*)"?|[\[\]{}]', re.DOTALL)


class StrictJsonError(MessagingError, ValueError):
    """The text is not strict JSON. `reason` says what is wrong, `position` is a code-point offset."""

    def __init__(self, reason: str, position: int = 0) -> None:
        super().__init__(f"{reason} at character {position}")
        self.reason = reason
        self.position = position


def _integer(digits: str) -> int:
    if len(digits.lstrip("-")) > MAX_INTEGER_DIGITS:
        raise StrictJsonError(f"integer of more than {MAX_INTEGER_DIGITS} digits")
    return int(digits)


def _float(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise StrictJsonError("number that overflows to infinity")
    return value


def _constant(word: str) -> Any:
    raise StrictJsonError(f"{word} is not JSON")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise StrictJsonError("duplicate key")
    return value


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_integer, parse_float=_float, parse_constant=_constant, strict=True
)


def levels(text: str) -> int:
    """How deep the brackets of `text` nest outside strings; linear, no recursion."""
    depth = deepest = 0
    for match in _STRING_OR_BRACKET.finditer(text):
        first = match[0][0]
        if first in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif first in "]}":
            depth -= 1
    return deepest


def _check_levels(text: str) -> None:
    if text.count("{") + text.count("[") > MAX_LEVELS and levels(text) > MAX_LEVELS:
        raise StrictJsonError(f"more than {MAX_LEVELS} levels")


def _check_surrogates(value: Any) -> None:
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            if _SURROGATE.search(item):
                raise StrictJsonError("lone surrogate in a string")
        elif isinstance(item, dict):
            waiting.extend(item)
            waiting.extend(item.values())
        elif isinstance(item, list):
            waiting.extend(item)


def loads(text: str) -> Any:
    """The one JSON value that `text` holds, blanks around it allowed; raises `StrictJsonError`.

    Time is linear in `text`; callers bound its size. A leading U+FEFF is refused, as anywhere else.
    """
    _check_levels(text)
    try:
        value, end = _DECODER.raw_decode(text, len(text) - len(text.lstrip(" \t\r\n")))
    except StrictJsonError:
        raise
    except json.JSONDecodeError as broken:
        raise StrictJsonError(broken.msg, broken.pos) from None
    if text[end:].strip(" \t\r\n"):
        raise StrictJsonError("text after the value", end)
    if "\\u" in text or _SURROGATE.search(text):
        _check_surrogates(value)
    return value


# Most values are shorter; only those that are cut off by it are read again.
_FIRST_WINDOW_CHARS = 1024


def _cut_short(broken: json.JSONDecodeError, piece: str) -> bool:
    """Could the error come from the end of the piece alone? No token but a string is longer than 12."""
    return broken.msg.startswith("Unterminated string") or broken.pos > len(piece) - 12


def _decode_piece(text: str, position: int, chars: int) -> tuple[Any, int]:
    try:
        value, end = _DECODER.raw_decode(text[position : position + chars])
    except RecursionError:
        raise StrictJsonError(f"more than {MAX_LEVELS} levels", position) from None
    return value, position + end


def _decode_prefix(text: str, position: int, most_chars: int) -> tuple[Any, int]:
    first = min(_FIRST_WINDOW_CHARS, most_chars)
    try:
        return _decode_piece(text, position, first)
    except json.JSONDecodeError as broken:
        piece = text[position : position + first]
        if len(piece) < first or not _cut_short(broken, piece):  # there is no more of it
            raise
    return _decode_piece(text, position, most_chars)


def decode_at(text: str, position: int, most_chars: int) -> tuple[Any, int]:
    """The value that begins at `position`, and the offset behind it; raises `StrictJsonError`.

    At most `most_chars` are looked at, and of a text that breaks early only its beginning: the decoder's
    error counts line feeds from the start of what it was given, which is quadratic over many broken places.
    """
    try:
        value, end = _decode_prefix(text, position, most_chars)
    except json.JSONDecodeError as broken:
        raise StrictJsonError(broken.msg, position + broken.pos) from None
    written = text[position:end]
    if end - position > 2 * MAX_LEVELS:  # fewer brackets than that nest no deeper
        _check_levels(written)
    if "\\u" in written or (not written.isascii() and _SURROGATE.search(written)):
        _check_surrogates(value)
    return value, end


def load_object(text: str) -> dict[str, Any]:
    """As `loads`, for a text that must hold one object."""
    value = loads(text)
    if not isinstance(value, dict):
        raise StrictJsonError("not an object")
    return value
