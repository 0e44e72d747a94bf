"""How blocks begin: CommonMark 0.31 sections 4 and 5, and the delimiter row of a GFM table."""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import Final, NamedTuple

from harvester.scanner.lines import Cursor
from harvester.scanner.tags import CLOSING_TAG, OPEN_TAG, REASONING, REASONING_END
from patterns import vocabulary

CODE_INDENT: Final = 4


class Start(Enum):
    """What a line begins."""

    QUOTE = auto()
    HEADING = auto()
    FENCE = auto()
    HTML = auto()
    UNDERLINE = auto()
    BREAK = auto()
    ITEM = auto()
    INDENTED = auto()


class Open(Enum):
    """The paragraph before the line: none, one in its own containers, or one that it may go on lazily."""

    NONE = auto()
    LAZY = auto()
    OWN = auto()


class Found(NamedTuple):
    """A start, its match, and for HTML the kind of the block (1 to 7)."""

    start: Start
    match: re.Match[str]
    kind: int = 0


_QUOTE: Final = re.compile(r">")
_HEADING: Final = re.compile(r"#{1,6}(?=[ \t]|$)")
_FENCE: Final = re.compile(r"(?P<run>`{3,})(?P<info>[^`]*+)$|(?P<waves>~{3,})(?P<words>.*+)$", re.DOTALL)
_UNDERLINE: Final = re.compile(r"(?:=+|-+)[ \t]*+$")
# Three of a mark, then any number: no group is repeated, for that costs a nest of items dearly.
_BREAK: Final = re.compile(
    "|".join(rf"{mark}[ \t]*+{mark}[ \t]*+{mark}[{mark} \t]*+$" for mark in (r"\*", "_", r"\-"))
)
_ITEM: Final = re.compile(r"(?:[-+*]|(?P<number>[0-9]{1,9})[.)])(?=[ \t]|$)")
_ANY: Final = re.compile(r"")

_RAW: Final = "|".join(sorted(vocabulary().html_raw_tags))
_BLOCK: Final = "|".join(sorted(vocabulary().html_block_tags))
# The seven kinds, by number: how each begins; how 1 to 5 end (6 and 7 end with a blank line).
_HTML: Final = (
    (1, re.compile(rf"(?ai:<(?:{_RAW})(?:[ \t>]|$))")),
    (2, re.compile(r"<!--")),
    (3, re.compile(r"<\?")),
    (5, re.compile(r"<!\[CDATA\[")),
    (4, re.compile(r"<![A-Za-z]")),
    (6, re.compile(rf"(?ai:</?(?:{_BLOCK})(?:[ \t]|/?>|$))")),
    (7, re.compile(rf"(?:{OPEN_TAG.pattern}|{CLOSING_TAG.pattern})[ \t]*+$")),
)
COMMENT_KIND: Final = 2
HTML_ENDS: Final = {
    1: re.compile(rf"(?ai:</(?:{_RAW})>)"),
    2: re.compile(r"-->"),
    3: re.compile(r"\?>"),
    4: re.compile(r">"),
    5: re.compile(r"\]\]>"),
}
_LAST_KIND: Final = 7


def _html(cursor: Cursor, before: Open) -> Found | None:
    """GRAMMAR 2.4: no reasoning tag starts one, and kind 7 never starts where a paragraph could go on."""
    for kind, pattern in _HTML:
        match = pattern.match(cursor.text, cursor.first)
        if match is None:
            continue
        if kind < _LAST_KIND:
            return Found(Start.HTML, match, kind)
        reasoning = REASONING.match(match[0]) or REASONING_END.match(match[0])
        return None if reasoning or before is not Open.NONE else Found(Start.HTML, match, kind)
    return None


def _item(cursor: Cursor, before: Open) -> Found | None:
    """An item that interrupts a paragraph is not empty, and its number is 1."""
    match = _ITEM.match(cursor.text, cursor.first)
    if match is None:
        return None
    if before is Open.OWN and (match["number"] not in {None, *_ONES} or _empty_behind(cursor, match.end())):
        return None
    return Found(Start.ITEM, match)


_ONES: Final = frozenset("0" * zeros + "1" for zeros in range(9))


def _empty_behind(cursor: Cursor, pos: int) -> bool:
    return not cursor.text[pos:].strip(" \t")


# By first character, in the order in which CommonMark tries them.
_PLAIN: Final[dict[str, tuple[tuple[Start, re.Pattern[str]], ...]]] = {
    ">": ((Start.QUOTE, _QUOTE),),
    "#": ((Start.HEADING, _HEADING),),
    "`": ((Start.FENCE, _FENCE),),
    "~": ((Start.FENCE, _FENCE),),
    "=": ((Start.UNDERLINE, _UNDERLINE),),
    "-": ((Start.UNDERLINE, _UNDERLINE), (Start.BREAK, _BREAK)),
    "_": ((Start.BREAK, _BREAK),),
    "*": ((Start.BREAK, _BREAK),),
}
_ITEM_CHARS: Final = frozenset("-+*0123456789")
# What begins with these is a break or an underline, or an item.
_RULES: Final = frozenset("=-_*")


def find_start(cursor: Cursor, before: Open) -> Found | None:
    """What begins at the cursor, which is not at a blank rest of a line; None is text."""
    if cursor.indent() >= CODE_INDENT:
        match = _ANY.match(cursor.text, cursor.first)
        return Found(Start.INDENTED, match) if match and before is Open.NONE else None
    char = cursor.char
    if char == "<":
        return _html(cursor, before)
    for start, pattern in () if char in _RULES and not cursor.only_marks else _PLAIN.get(char, ()):
        match = pattern.match(cursor.text, cursor.first)
        if match and (start is not Start.UNDERLINE or before is Open.OWN):
            return Found(start, match)
    return _item(cursor, before) if char in _ITEM_CHARS else None


_COMMENT: Final = re.compile(r"(?>(?:>[ \t]*+|(?:[-+*]|[0-9]{1,9}[.)])[ \t]++)*)<!--(?!.*-->)")


def find_too_deep(cursor: Cursor) -> Found | None:
    """What stands too deep is text, or a comment, since that one goes on behind its container."""
    comment = _COMMENT.match(cursor.text, cursor.first)
    return Found(Start.HTML, comment, COMMENT_KIND) if comment else None


_DELIMITERS: Final = re.compile(r"\|?[ \t]*+:?-++:?[ \t]*+(?>(?:\|[ \t]*+:?-++:?[ \t]*+)*)\|?[ \t]*+$")
# GFM 4.10: a pipe right behind a backslash parts nothing, whatever stands before the backslash.
_CELL_END: Final = re.compile(r"\|(?<!\\\|)")


def _cells(row: str) -> int:
    """Cells of a table row: a pipe at its start or end separates nothing, an escaped one neither."""
    row = row.strip(" \t")
    pipes = [match.start() for match in _CELL_END.finditer(row)]
    return len(pipes) + 1 - (0 in pipes) - (len(row) - 1 in pipes)


def is_delimiter_row(cursor: Cursor, header: str) -> bool:
    """Does the line make a table whose header row is `header`, the last line of the paragraph before it?"""
    if cursor.char not in set("|:-") or cursor.indent() >= CODE_INDENT:
        return False
    match = _DELIMITERS.match(cursor.text, cursor.first)
    return match is not None and _cells(match[0]) == _cells(header)
