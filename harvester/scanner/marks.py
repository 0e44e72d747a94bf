"""Struck-out text and quotations in prose (GRAMMAR 2.7 and 2.8)."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from functools import lru_cache
from typing import Final

from patterns import vocabulary

_STRAIGHT: Final = '"'
_CLOSERS: Final[dict[str, tuple[str, ...]]] = {}
_OPENERS: Final = frozenset(opener for opener, _ in vocabulary().quote_pairs)
for _opener, _closer in vocabulary().quote_pairs:
    _CLOSERS[_closer] = (*_CLOSERS.get(_closer, ()), _opener)
MARKS: Final = _OPENERS | frozenset(_CLOSERS)
_ONLY_OPENERS: Final = _OPENERS - frozenset(_CLOSERS)
# GRAMMAR 2.8: closing only where no letter follows, else it is an apostrophe.
APOSTROPHE: Final = "’"


def _is_space(char: str) -> bool:
    """Unicode whitespace as CommonMark 2.1 has it; the ends of the text count as such."""
    return not char or char in "\t\n\f\r" or unicodedata.category(char) == "Zs"


def _is_punctuation(char: str) -> bool:
    return char != "" and unicodedata.category(char)[0] in "PS"


@lru_cache(maxsize=1024)
def _flanking(before: str, after: str) -> tuple[bool, bool]:
    space_before, space_after = _is_space(before), _is_space(after)
    loose_before = space_before or _is_punctuation(before)
    loose_after = space_after or _is_punctuation(after)
    left = not space_after and (not _is_punctuation(after) or loose_before)
    right = not space_before and (not _is_punctuation(before) or loose_after)
    return left, right


def flanking(text: str, start: int, end: int) -> tuple[bool, bool]:
    """Is the run left-flanking, is it right-flanking (CommonMark 0.31, 6.2)?"""
    return _flanking(text[start - 1 : start] if start else "", text[end : end + 1])


class Strikes:
    """`~~` left-flanking to the next right-flanking one."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._open = -1
        self.found: list[tuple[int, int]] = []

    def see(self, start: int, end: int) -> None:
        """A run of tildes."""
        if end - start != 2:
            return
        left, right = flanking(self._text, start, end)
        if self._open >= 0 and right:
            self.found.append((self._open, end))
            self._open = -1
        elif self._open < 0 and left:
            self._open = start


class Quotations:
    """Marks from left to right: each closes the innermost open one that it matches, else opens."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._open: defaultdict[str, list[int]] = defaultdict(list)
        self._paired: set[int] = set()
        self._first = -1
        self.found: list[tuple[int, int]] = []

    def see(self, start: int, end: int) -> None:
        """A mark, or a run of it."""
        if start == 0:
            self._first = 0
        mark = self._text[start]
        if mark in _ONLY_OPENERS:
            self._open[mark].extend(range(start, end))
            return
        left, right = flanking(self._text, start, end) if mark == _STRAIGHT else (True, True)
        if mark == APOSTROPHE:
            right = not self._text[end : end + 1].isalpha()
        opens = left and mark in _OPENERS
        for place in range(start, end):
            self._pair(mark, place, opens=opens, closes=right)

    def _pair(self, mark: str, place: int, *, opens: bool, closes: bool) -> None:
        matching = [self._open[opener] for opener in _CLOSERS.get(mark, ()) if self._open[opener]]
        if closes and matching:
            innermost = max(matching, key=lambda opened: opened[-1])
            self._close(innermost.pop(), place)
        elif opens:
            self._open[mark].append(place)

    def _close(self, opened: int, place: int) -> None:
        self.found.append((opened, place + 1))
        self._paired.add(opened)

    def finish(self) -> None:
        """GRAMMAR 2.8: a mark that begins the paragraph and has no partner quotes the rest of it."""
        if self._first == 0 and 0 not in self._paired:
            self.found.append((0, len(self._text)))
