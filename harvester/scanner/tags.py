"""Tags of HTML, comments and autolinks as CommonMark 0.31 has them, and the reasoning tags (GRAMMAR 2)."""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from patterns import vocabulary


def _attributes(line_feed: str) -> str:
    """Any number of attributes; possessive, so that a tag that fails costs no second reading.

    `line_feed` may stand between them and in a quoted value; "" where a tag has to stand on one line.
    """
    blank, no = rf"[ \t{line_feed}]", "" if line_feed else r"\n"
    value = rf"""(?:[^ \t\n"'=<>`]++|'[^'{no}]*+'|"[^"{no}]*+")"""
    return rf"(?>(?:{blank}++[A-Za-z_:][A-Za-z0-9_.:-]*+(?>(?:{blank}*+={blank}*+{value})?))*){blank}*+"


_ANY_LINES: Final = _attributes(r"\n")
_ONE_LINE: Final = _attributes("")

OPEN_TAG: Final = re.compile(rf"<([A-Za-z][A-Za-z0-9-]*+){_ANY_LINES}/?>")
CLOSING_TAG: Final = re.compile(r"</([A-Za-z][A-Za-z0-9-]*+)[ \t\n]*+>")
AUTOLINK: Final = re.compile(
    r"<(?:[A-Za-z][A-Za-z0-9+.-]{1,31}:[^<>\x00-\x20\x7f]*+"
    r"|[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]++@[A-Za-z0-9.-]++)>"
)
COMMENT: Final = re.compile(r"<!--(?:-?>)?")

# GRAMMAR 2: reasoning tags stand on one line, in any ASCII case; `<x/>` is none.
_NAMES: Final = "|".join(sorted(vocabulary().reasoning_tags, key=len, reverse=True))
REASONING_NAME: Final = rf"(?ai:{_NAMES})"
REASONING: Final = re.compile(rf"(?ai:<(?P<name>{_NAMES})){_ONE_LINE}>")
REASONING_END: Final = re.compile(rf"(?ai:</(?:{_NAMES}))[ \t]*+>")
# GRAMMAR 2: "at the start of a line (behind at most three blanks …)".
LINE_REASONING: Final = re.compile(rf"[ \t]{{0,3}}(?P<tag>{REASONING.pattern})")
LINE_REASONING_END: Final = re.compile(rf"[ \t]{{0,3}}(?P<tag>{REASONING_END.pattern})")


@cache
def closing(name: str | None) -> re.Pattern[str]:
    """What ends the reasoning that `<name>` opened; None is any name, for an opening tag that nobody saw."""
    return REASONING_END if name is None else re.compile(rf"(?ai:</{re.escape(name)})[ \t]*+>")
