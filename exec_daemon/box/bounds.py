"""A reading cut to size: long strings lose their middle, then the longest lists their less telling end."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

# O 7.1: a read is at most 64 KiB. The rest of the document around `data` has its place in the difference.
MOST_DATA_BYTES: Final = 60 * 1024
# Long enough for a stack trace or a command line, short enough for fifteen of them.
MOST_STRING_CHARS: Final = 4000
# Lists under these keys begin with the oldest entry, so their beginning goes first; others are newest or
# biggest first.
_OLDEST_FIRST: Final = frozenset({"lines", "events", "messages"})
# Objects of ours have fewer fields; one with more is somebody's JSON and may lose some.
_FIELDS: Final = 64
# A round of cutting leaves at most so much of the longest list, so that the rounds end.
_MOST_KEPT: Final = 0.9

_Rows = list[Any] | dict[str, Any]


def size_bytes(value: Any) -> int:
    """How many bytes of UTF-8 the JSON text of `value` has."""
    return len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def clip(text: str, most_chars: int = MOST_STRING_CHARS) -> str:
    """`text`, or its two ends with a note of what is missing between them."""
    missing = len(text) - most_chars
    if missing <= 0:
        return text
    half = most_chars // 2
    return f"{text[:half]}… [{missing} characters left out] …{text[-half:]}"


def _clip_strings(value: Any) -> Any:
    if isinstance(value, str):
        return clip(value)
    if isinstance(value, dict):
        return {clip(key): _clip_strings(item) for key, item in value.items()}
    return [_clip_strings(item) for item in value] if isinstance(value, list) else value


def _cuttable(value: Any, key: str = "") -> Iterator[tuple[str, _Rows]]:
    """All that can still lose an entry, with the key that it stands under."""
    if isinstance(value, list | dict) and len(value) > (1 if isinstance(value, list) else _FIELDS):
        yield key, value
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _cuttable(item, name)
    elif isinstance(value, list):
        for item in value:
            yield from _cuttable(item, key)


def _share(rows: _Rows, whole_bytes: int) -> float:
    """How much of `rows` may stay: all but the excess, or the share by which the whole is too large."""
    length, excess = size_bytes(rows), whole_bytes - MOST_DATA_BYTES
    return min(_MOST_KEPT, max((length - excess) / length, MOST_DATA_BYTES / whole_bytes))


def _shorten(key: str, rows: _Rows, share: float) -> None:
    kept = max(1, int(len(rows) * share))
    if isinstance(rows, list):
        rows[:] = rows[-kept:] if key in _OLDEST_FIRST else rows[:kept]
    else:
        for name in list(rows)[kept:]:
            del rows[name]


def fit(data: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """`data` in at most `MOST_DATA_BYTES`, and a note per list that lost entries. Gives a fresh tree."""
    small: dict[str, Any] = _clip_strings(data)
    notes = [] if small == data else ["long texts are cut in the middle"]
    before = {id(rows): (key, rows, len(rows)) for key, rows in _cuttable(small)}
    while (whole_bytes := size_bytes(small)) > MOST_DATA_BYTES:
        longest = max(_cuttable(small), key=lambda entry: size_bytes(entry[1]), default=None)
        if longest is None:
            return {"available": True}, ["the answer is too large to show"]
        _shorten(*longest, _share(longest[1], whole_bytes))
    lost = [(key, len(rows), count) for key, rows, count in before.values() if len(rows) < count]
    return small, notes + [f"{key}: {left} of {count} shown" for key, left, count in lost]
