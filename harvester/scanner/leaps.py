"""Lines that are taken at once, since all of them are alike and none makes an event (GRAMMAR 2).

Each function gives where the first line begins that has to be read by itself; at `pos` a line begins.
"""

from __future__ import annotations

import re
from typing import Final

from patterns import vocabulary

# So many lines at once: the engine keeps note of each time that it has gone through a group.
_LINES: Final = "{0,64}"
# A second blank line does no more than the first.
_EMPTY_LINES: Final = re.compile(r"\n+(?=\n)")
_WORDS: Final = "|".join(vocabulary().call_fences + vocabulary().shell_fences)
_CLOSING: Final = r" {0,3}+(?P=run)`*+[ \t]*+\n"
# Fenced code that is closed, has a language in which nothing runs, and no opener.
_FENCED: Final = re.compile(
    rf"(?P<run>`{{3,}}+)[ \t]*+(?!(?ai:{_WORDS}))[^`\[\r\n\x80-\U0010ffff]*+\n"
    rf"(?>(?:(?!{_CLOSING})[^\[\r\n]*+\n){_LINES}){_CLOSING}"
)
# Rows of a table without a tag or opener. A command begins with no pipe.
_ROWS: Final = re.compile(rf"(?>(?:\|[^<\[\r\n]*+\n){_LINES})")
# Lines that only go on a paragraph: without what begins a block, a tag or a delimiter row.
_TEXT_LINE: Final = r"[^ \t>#`~=_*+<|:0-9\r\n-][^<\r\n]*+"
_TEXT_LINES: Final = (
    ("\n", re.compile(rf"(?>(?:{_TEXT_LINE}\n){_LINES})")),
    ("\r", re.compile(rf"(?>(?:{_TEXT_LINE}\r(?=[^\n])){_LINES})")),
)


def _behind(pattern: re.Pattern[str], text: str, pos: int) -> int:
    match = pattern.match(text, pos)
    return match.end() if match else pos


def over_blank_lines(text: str, pos: int) -> int:
    """Where no leaf is open; the last blank line is left."""
    return _behind(_EMPTY_LINES, text, pos)


def over_fences(text: str, pos: int) -> int:
    """Where nothing is open."""
    while match := _FENCED.match(text, pos):
        pos = match.end()
    return pos


def over_rows(text: str, pos: int) -> int:
    """Where a table is open, in no container."""
    return _behind(_ROWS, text, pos)


def over_text(text: str, pos: int) -> int:
    """Where a paragraph is open; the last line is left, since it may be the header row of a table.

    All these lines end alike, with one character.
    """
    for end, lines in _TEXT_LINES:
        last = text.rfind(end, pos, _behind(lines, text, pos) - 1) + 1
        if last > pos:
            return last
    return pos
