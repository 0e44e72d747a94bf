"""Make a text as small as it gets while it still shows the same difference (delta debugging)."""

from __future__ import annotations

import re
from collections.abc import Callable

_LINES = re.compile(r"[^\n]*\n|[^\n]+")
_TOKENS = re.compile(r"\w+|\s|[^\w\s]")


def smallest(text: str, shows: Callable[[str], bool]) -> str:
    """Drop lines, then tokens, then tokens again until nothing more can go."""
    before = None
    while text != before:
        before = text
        for pattern in (_LINES, _TOKENS):
            text = "".join(_dropped(pattern.findall(text), shows))
    return text


def _dropped(parts: list[str], shows: Callable[[str], bool]) -> list[str]:
    size = max(1, len(parts) // 2)
    while parts:
        at = 0
        while at < len(parts):
            fewer = parts[:at] + parts[at + size :]
            if shows("".join(fewer)):
                parts = fewer
            else:
                at += size
        if size == 1:
            return parts
        size = max(1, size // 2)
    return parts
