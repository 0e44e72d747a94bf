"""Canonical JSON (RFC 8785) and digests over it: equality that key order and spacing do not change.

RFC 8785 writes numbers as IEEE doubles. Integers beyond 2**53 would fall together there, so integers are
written in full: two calls that differ in one digit of a big integer are two calls.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any, Final

from messaging.json_out import compact

# Made once: `json.dumps` makes a new encoder for each text that it writes other than in ASCII.
_text: Final = json.JSONEncoder(ensure_ascii=False).encode


def _number(value: float) -> str:
    """ECMAScript's Number::toString (ECMA-262 6.1.6.1.20), which RFC 8785 section 3.2.2.3 asks for.

    Python's `repr` finds the same shortest digits; only where the point stands and when an exponent
    is written differ. `point` is where the decimal point stands, counted from the first digit.
    """
    sign, digits = ("-", repr(-value)) if value < 0 else ("", repr(value))
    mantissa, _, exponent = digits.partition("e")
    whole, _, fraction = mantissa.partition(".")
    figures = (whole + fraction).strip("0") or "0"
    leading = len(whole + fraction) - len((whole + fraction).lstrip("0"))
    point = len(whole) + int(exponent or 0) - leading
    return "0" if value == 0 else sign + _placed(figures, point)


def _placed(figures: str, point: int) -> str:
    if len(figures) <= point <= 21:
        return figures + "0" * (point - len(figures))
    if 0 < point <= 21:
        return f"{figures[:point]}.{figures[point:]}"
    if -6 < point <= 0:
        return f"0.{'0' * -point}{figures}"
    fraction = f".{figures[1:]}" if len(figures) > 1 else ""
    return f"{figures[0]}{fraction}e{point - 1:+d}"


def _key_order(key: str) -> bytes:
    """RFC 8785 section 3.2.3 sorts by UTF-16 code units."""
    return key.encode("utf-16-be", "surrogatepass")


def _write(value: Any, parts: list[str]) -> None:
    if isinstance(value, dict):
        _write_object(value, parts)
    elif isinstance(value, list | tuple):
        _write_array(value, parts)
    elif isinstance(value, bool) or value is None:
        parts.append({True: "true", False: "false", None: "null"}[value])
    elif isinstance(value, int):
        parts.append(str(value))
    elif isinstance(value, float):
        parts.append(_number(value))
    else:
        parts.append(_text(value))


def _write_object(value: dict[str, Any], parts: list[str]) -> None:
    parts.append("{")
    for index, key in enumerate(sorted(value, key=_key_order)):
        parts.append("," if index else "")
        parts.append(_text(key) + ":")
        _write(value[key], parts)
    parts.append("}")


def _write_array(value: list[Any] | tuple[Any, ...], parts: list[str]) -> None:
    parts.append("[")
    for index, item in enumerate(value):
        parts.append("," if index else "")
        _write(item, parts)
    parts.append("]")


# A number with a point or an exponent is a float, which `json` writes otherwise; a text may look like one.
# It begins with one of few characters, so that the search skips to them.
_MAYBE_FLOAT = re.compile(r"[\[,:]-?(?:\d+[.e]|Infinity)")
_plain: Final = compact(sort_keys=True, allow_nan=True)


def canonical_json(value: Any) -> str:
    """The canonical text of a JSON value (at most 64 levels deep; raises TypeError for anything else).

    Without floats, and in ASCII, where all orders of characters are one, it is what `json` writes.
    """
    text = _plain(value)
    return _written(value) if isinstance(value, float) or _is_special(text) else text


def _is_special(text: str) -> bool:
    return not text.isascii() or "NaN" in text or _MAYBE_FLOAT.search(text) is not None


def _written(value: Any) -> str:
    parts: list[str] = []
    _write(value, parts)
    return "".join(parts)


def digest(*values: Any) -> str:
    """SHA-256 over the canonical JSON of the list of `values`, in lower-case hexadecimal."""
    return hashlib.sha256(canonical_json(values).encode("utf-8", "surrogatepass")).hexdigest()
