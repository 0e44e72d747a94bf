"""What the beginning of a line says about the paragraph before it: a directive waits no longer than it must.

Until its paragraph ends, any directive in it can still become inert: a backtick, a mark or a tag may come
that pairs with one before it, a delimiter row may cut it off, and a paragraph over its limit is inert as a
whole (GRAMMAR 2). So the paragraph's end decides, and it is certain as soon as the next line has begun what
can only be another block. A blank line, an underline of `=`, a delimiter row and a fence of backticks (whose
info string may hold none) are not certain before their line ends.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import Final

from harvester.scanner.containers import Containers
from harvester.scanner.lines import Cursor, Line
from harvester.scanner.starts import CODE_INDENT
from harvester.scanner.tags import LINE_REASONING
from patterns import vocabulary


class Outlook(Enum):
    """Does the paragraph end before this line?"""

    ENDS = auto()
    UNDERLINED = auto()  # it ends, perhaps as a heading
    GOES_ON = auto()
    OPEN = auto()  # more of the line may tell


_RAW: Final = "|".join(sorted(vocabulary().html_raw_tags))
_BLOCK: Final = "|".join(sorted(vocabulary().html_block_tags))
# By the first character of the line's content: what certainly begins a block, whatever comes behind it.
_CERTAIN: Final[dict[str, re.Pattern[str]]] = {
    ">": re.compile(r">"),
    "#": re.compile(r"#{1,6}[ \t]"),
    "~": re.compile(r"~~~"),
    "<": re.compile(rf"(?ai:<(?:{_RAW})[ \t>]|<!--|<\?|<!\[CDATA\[|<![a-z]|</?(?:{_BLOCK})(?:[ \t]|/?>))"),
}
# An item that interrupts a paragraph is not empty, and its number is 1.
_ITEM: Final = re.compile(r"(?:[-+*]|0{0,8}1[.)])[ \t]+[^ \t]")
# Where the paragraph would go on lazily, any item ends it.
_LAZY_ITEM: Final = re.compile(r"(?:[-+*]|[0-9]{1,9}[.)])[ \t]")
# An item, a break or an underline.
_DASH: Final = re.compile(r"-[ \t]")
# Of what else may begin something, only the whole line says so.
_BEGINNINGS: Final = frozenset("-+*0123456789") | _CERTAIN.keys()


def outlook(line: Line, containers: Containers) -> Outlook:
    """What this beginning of a line means for an open paragraph in these containers."""
    if LINE_REASONING.match(line.text):
        return Outlook.ENDS
    cursor = Cursor(line)
    lazy = containers.walk(cursor) < len(containers)
    if cursor.blank:
        return Outlook.OPEN
    if cursor.indent() >= CODE_INDENT or cursor.char not in _BEGINNINGS:
        return Outlook.GOES_ON
    certain = _CERTAIN.get(cursor.char, _LAZY_ITEM if lazy else _ITEM)
    if certain.match(cursor.text, cursor.first):
        return Outlook.ENDS
    return Outlook.UNDERLINED if _DASH.match(cursor.text, cursor.first) else Outlook.OPEN
