"""Fields of JSON that others wrote: each reader gives the value in its type, or None, and never raises."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any, Final, TypeAlias

from messaging.strict_json import MAX_LEVELS, levels

Json: TypeAlias = dict[str, Any]

# Half of a pair: a CLI that cuts a text in the middle of an emoji writes one. It cannot be sent as UTF-8.
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def _finite(digits: str) -> float | None:
    """What overflows is no number; nor are the constants that JSON does not know."""
    number = float(digits)
    return number if math.isfinite(number) else None


_DECODER: Final = json.JSONDecoder(parse_float=_finite, parse_constant=_finite)


def line_object(line: str) -> Json | None:
    """The JSON object that `line` is, or None.

    Read leniently, unlike a directive: nothing runs because of it, and a result line that is not to
    the letter is still the only one that says how the turn ended.
    """
    try:
        value = _DECODER.decode(line) if levels(line) <= MAX_LEVELS else None
    except ValueError:  # torn, no JSON, or an integer of ten thousand digits
        return None
    return value if isinstance(value, dict) else None


def text(value: Any) -> str | None:
    """A string, whole code points only."""
    return _SURROGATE.sub("\ufffd", value) if isinstance(value, str) else None


def words(value: Any) -> str:
    """A string or the empty one."""
    return text(value) or ""


def count(value: Any) -> int | None:
    """A number of something: an integer, not negative, and no bool."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def amount(value: Any) -> float | None:
    """A finite number that is not negative."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def truth(value: Any) -> bool | None:
    """A bool."""
    return value if isinstance(value, bool) else None


def part(value: Any, *path: str) -> Json:
    """The object at `path` inside an object; an empty one where there is none."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def parts(value: Any) -> Iterator[Json]:
    """The objects in an array."""
    yield from (one for one in value if isinstance(one, dict)) if isinstance(value, list) else ()


def texts_of(content: Any) -> str | None:
    """The words of a message's content: a string, or blocks of which those of type `text` count."""
    if not isinstance(content, list):
        return text(content)
    return "".join(words(block.get("text")) for block in parts(content) if block.get("type") == "text")
