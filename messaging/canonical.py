"""Canonical JSON (RFC 8785) and digests over it: equality that key order and spacing do not change.

RFC 8785 writes numbers as IEEE doubles. Integers beyond 2**53 would fall together there, so they are
written in full: two calls that differ in one digit of a big integer are two calls.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

# The largest integer that a double holds exactly together with all smaller ones.
_EXACT = 2**53


def _number(value: float) -> str:
    """ECMAScript's Number::toString, which RFC 8785 section 3.2.2.3 asks for."""
    if value == 0:
        return "0"
    if value.is_integer() and abs(value) < 1e21:
        return str(int(value))
    mantissa, _, exponent = repr(value).partition("e")
    if not exponent:
        return mantissa
    power = int(exponent)
    if -7 < power < 0:
        return _written_out(mantissa, -power)
    return f"{mantissa}e{'+' if power > 0 else '-'}{abs(power)}"


def _written_out(mantissa: str, shift: int) -> str:
    """`1.5`, 5 -> `0.000015`: ECMAScript uses an exponent only from 1e-7 down, Python from 1e-5."""
    sign, digits = ("-", mantissa[1:]) if mantissa.startswith("-") else ("", mantissa)
    return f"{sign}0.{'0' * (shift - 1)}{digits.replace('.', '')}"


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
        parts.append(str(value) if abs(value) > _EXACT else _number(float(value)))
    elif isinstance(value, float):
        parts.append(_number(value))
    else:
        parts.append(json.dumps(value, ensure_ascii=False))


def _write_object(value: dict[str, Any], parts: list[str]) -> None:
    parts.append("{")
    for index, key in enumerate(sorted(value, key=_key_order)):
        parts.append("," if index else "")
        parts.append(json.dumps(key, ensure_ascii=False) + ":")
        _write(value[key], parts)
    parts.append("}")


def _write_array(value: list[Any] | tuple[Any, ...], parts: list[str]) -> None:
    parts.append("[")
    for index, item in enumerate(value):
        parts.append("," if index else "")
        _write(item, parts)
    parts.append("]")


def canonical_json(value: Any) -> str:
    """The canonical text of a JSON value (at most 64 levels deep; raises TypeError for anything else)."""
    parts: list[str] = []
    _write(value, parts)
    return "".join(parts)


def digest(*values: Any) -> str:
    """SHA-256 over the canonical JSON of the list of `values`, in lower-case hexadecimal."""
    return hashlib.sha256(canonical_json(values).encode("utf-8", "surrogatepass")).hexdigest()
