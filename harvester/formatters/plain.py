"""Any JSON value as text for a reader: tables for lists of objects, `key: value` for objects."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

# Wider cells hide the columns behind them.
_CELL_CHARS: Final = 48
# A list of short values up to this long stays on the line of its key.
_INLINE_CHARS: Final = 100
_UNIT: Final = 1024
_UNITS: Final = ("KiB", "MiB", "GiB", "TiB", "PiB")
# Deeper values are written as JSON on one line.
_LEVELS: Final = 4


def plain(value: Any) -> str:
    """The text; lines have no blanks at their end."""
    return "\n".join(line.rstrip() for line in lines(value))


def lines(value: Any, level: int = 0) -> Iterator[str]:
    """The lines of one value at a depth of `level`."""
    if isinstance(value, str):
        yield from value.split("\n")
    elif not isinstance(value, dict | list):
        yield scalar(value)
    elif level >= _LEVELS:
        yield compact(value)
    elif isinstance(value, dict):
        yield from _fields(value, level)
    elif _is_table(value):
        yield from table(value)
    else:
        for item in value:
            yield from lines(item, level + 1)


def _fields(value: Mapping[str, Any], level: int) -> Iterator[str]:
    for key, item in value.items():
        inline = _inline(key, item)
        if inline is not None:
            yield f"{key}: {inline}"
            continue
        yield f"{key}:"
        for line in lines(item, level + 1):
            yield f"  {line}"


def _inline(key: str, item: Any) -> str | None:
    """The value as it stands behind its key, or None when it needs lines of its own."""
    if isinstance(item, dict):
        text = ", ".join(f"{inner} {member(inner, part)}" for inner, part in item.items()) or "none"
        simple = not any(isinstance(part, dict | list) for part in item.values())
    elif isinstance(item, list):
        text = ", ".join(scalar(part) for part in item) or "none"
        simple = not any(isinstance(part, dict | list) for part in item)
    else:
        return None if "\n" in (text := member(key, item)) else text
    return text if simple and len(text) <= _INLINE_CHARS and "\n" not in text else None


def _is_table(value: Sequence[Any]) -> bool:
    return len(value) > 0 and all(isinstance(row, dict) and row for row in value)


def table(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """A head of all keys in the order of their first use, then a line a row; columns two blanks apart."""
    keys = list(dict.fromkeys(key for row in rows for key in row))
    cells = [[cell(key) for key in keys]]
    cells += [[cell(member(key, row[key])) if key in row else "" for key in keys] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row_cells in cells:
        padded = (text.ljust(width) for text, width in zip(row_cells, widths, strict=True))
        yield "  ".join(padded).rstrip()


def cell(text: str) -> str:
    """A text on one line, clipped."""
    text = " ".join(text.split())
    return text if len(text) <= _CELL_CHARS else text[: _CELL_CHARS - 1] + "…"


def member(key: str, value: Any) -> str:
    """The value of a key; what is counted in bytes is told in the unit that reads best."""
    if key.endswith("_bytes") and isinstance(value, int) and value >= _UNIT:
        power = min(len(_UNITS), (value.bit_length() - 1) // 10)
        return f"{value / _UNIT**power:.1f}".removesuffix(".0") + f" {_UNITS[power - 1]}"
    return scalar(value)


def scalar(value: Any) -> str:
    """A value without structure as a reader writes it; anything else as compact JSON."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3g}" if abs(value) < 1 else f"{value:.3f}".rstrip("0").rstrip(".")
    return value if isinstance(value, str) else compact(value)


def compact(value: Any) -> str:
    """JSON on one line."""
    return json.dumps(value, ensure_ascii=False)
