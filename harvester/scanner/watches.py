"""What a piece must hold for anything to be decided by it, while something is open (GRAMMAR 2 and 7).

A piece without it waits unread, though lines end in it. A watch is asked about pieces that may begin and end
anywhere in a line, so it also finds what may be the half of a sign.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, TypeAlias

Watch: TypeAlias = Callable[[str], object]

# A line end, and behind it no line that surely goes on a paragraph; or what may be a reasoning tag.
_TEXT: Final = r"[^ \t>#`~=_*+<|:0-9\r\n-]"
_NO_TEXT: Final = re.compile(rf"\r\n?+(?!{_TEXT})|\n(?!{_TEXT})|<")
in_paragraph: Final[Watch] = _NO_TEXT.search


def half_line(text: str) -> int:
    """Where the line end stands that ends a piece: what comes behind it says whether it matters. Else 0."""
    match = _NO_TEXT.search(text)
    return match.start() if match and match.end() == len(text) else 0


# The end of an HTML block, or a reasoning tag, which ends it too.
in_html: Final[Watch] = re.compile(r"[<>]").search
in_reasoning: Final[Watch] = re.compile(r"<(?:/|\Z)").search
# By the character of its fence: what may be the end of the closing line.
in_fence: Final[dict[str, Watch]] = {
    mark: re.compile(rf"{mark}[ \t]*+(?:[\r\n]|\Z)").search for mark in ("`", "~")
}
