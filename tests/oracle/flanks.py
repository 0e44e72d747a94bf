"""Delimiter runs as CommonMark 0.31 has them: left- and right-flanking."""

from __future__ import annotations

import unicodedata


def left(text: str, start: int, end: int) -> bool:
    """Is the run text[start:end] left-flanking?"""
    before, after = _around(text, start, end)
    return not _blank(after) and (not _mark(after) or _blank(before) or _mark(before))


def right(text: str, start: int, end: int) -> bool:
    before, after = _around(text, start, end)
    return not _blank(before) and (not _mark(before) or _blank(after) or _mark(after))


def _around(text: str, start: int, end: int) -> tuple[str, str]:
    """The characters beside a run; the paragraph's ends count as blanks."""
    return text[start - 1 : start] or "\n", text[end : end + 1] or "\n"


def _blank(char: str) -> bool:
    return char in "\t\n\f\r" or unicodedata.category(char) == "Zs"


def _mark(char: str) -> bool:
    return unicodedata.category(char)[0] in "PS"
