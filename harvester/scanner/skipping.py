"""Text that needs no reading: where something could matter, and from where on structure has to be known.

Both are found with passes that begin with a literal, which run at the speed of memory. What they leave out
could not have made an event, and cannot be what surrounds one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, TypeAlias

from harvester.events import Span
from harvester.scanner.openers import ENGINE, OPENER
from harvester.scanner.tags import REASONING_NAME
from patterns import vocabulary

_CALL: Final = rf"[ \t]*+(?ai:{'|'.join(vocabulary().call_fences)})"
_Search: TypeAlias = Callable[[str, int], re.Match[str] | None]

# What an event can come from, and what has to be there before it is worth searching.
_TRIGGERS: Final[tuple[tuple[str, _Search], ...]] = (
    ("[", OPENER.search),
    ("<", re.compile(rf"</?{REASONING_NAME}").search),
    ("`", re.compile(f"```{_CALL}").search),
    ("~", re.compile(f"~~~{_CALL}").search),
    ("curl", re.compile("curl ").search),
)

# The same, also where a piece ends within it. Of what follows a `[` most is none of the engines' letters.
_CUT: Final = r"[A-Za-z]*+\Z"
_opener: Final = re.compile(rf"\[(?![^TEDR])(?:{ENGINE}|{_CUT})").search
_tag: Final = re.compile(rf"</?(?:{REASONING_NAME}|{_CUT})").search
_ticks: Final = re.compile(rf"```(?:{_CALL}|[ \t]*+{_CUT})").search
_waves: Final = re.compile(rf"~~~(?:{_CALL}|[ \t]*+{_CUT})").search
# Halves of signs that have none of their own before them.
_BEGUN: Final = ("`", "~", "c", "cu", "cur")
_LAST: Final = frozenset(sign[-1] for sign in _BEGUN)
_HALF: Final = re.compile(rf"(?:\[|</?|(?<!`)`+[ \t]*+|(?<!~)~+[ \t]*+){_CUT}|c[url]{{0,3}}\Z")
_LONGEST_HALF: Final = 16


def may_matter(text: str) -> bool:
    """May something that can matter stand in this piece of a reply, or begin at its end?"""
    return (
        ("[" in text and _opener(text) is not None)
        or ("<" in text and _tag(text) is not None)
        or ("`" in text and "```" in text and _ticks(text) is not None)
        or ("~" in text and "~~~" in text and _waves(text) is not None)
        or text.rfind("curl") >= 0  # a third faster than from the start
        or (text[-1:] in _LAST and text.endswith(_BEGUN))
    )


def half_sign(text: str) -> int:
    """Where the half of a sign begins that ends this piece; 0 if the sign is whole, or may be."""
    half = _HALF.search(text, max(0, len(text) - _LONGEST_HALF))
    return half.start() if half and not may_matter(text[: half.start()]) else 0


class Triggers:
    """The places in a text from which events can come, asked for from places that only go forward."""

    __slots__ = ("_next", "_text")

    def __init__(self, text: str, pos: int = 0) -> None:
        self._text = text
        self._next: dict[_Search, int] = {}
        for sign, search in _TRIGGERS:
            # Backwards `curl` is found, or not, a third faster.
            if text.rfind(sign) >= 0 and (match := search(text, pos)):
                self._next[search] = match.start()

    def __bool__(self) -> bool:
        return bool(self._next)

    def after(self, pos: int) -> int:
        """The first one from `pos` on; the length of the text if there is none."""
        for search, place in self._next.items():
            if place < pos:
                match = search(self._text, pos)
                self._next[search] = match.start() if match else len(self._text)
        return min(self._next.values(), default=len(self._text))


# Behind an empty line, the first character of a line that ends every list, quote and paragraph before it.
_FRESH: Final = re.compile(r"[^ \t>#`~=_*+<|:0-9\r\n-]")
# A fence at the left margin; or, without a `run`, a line that may begin an HTML block, or a fence that a
# container or its indentation makes hard to judge.
_BLOCK: Final = re.compile(r"\n(?:(?P<run>`{3,}|~{3,})(?P<info>[^\n]*+)|[ \t>*+0-9.)-]*+(?:`{3}|~{3}|<))")
# The same where there is nothing but such fences, and all of backticks.
_TICKS: Final = re.compile(r"(?P<run>````*+)(?P<info>[^\n]*+)")


def _outside(text: str, pattern: re.Pattern[str]) -> list[Span] | None:
    """The stretches outside fenced code in a text where all is easy to judge, else None."""
    found: list[Span] = []
    run, start = "", 0
    for match in pattern.finditer(text):
        fence, info = match.groups()
        begin = match.start()
        if fence is None or text[begin - (pattern is _TICKS)] != "\n":
            return None
        if not run:
            if fence[0] == "~" or "`" not in info:
                run = fence
                found.append((start, begin))
        elif fence.startswith(run) and not info.strip(" \t"):
            run, start = "", match.end()
    return found if run else [*found, (start, len(text))]


def _judged(text: str) -> list[Span] | None:
    if "\r" in text:
        return None
    if "<" in text or "~" in text:
        return _outside(text, _BLOCK)
    if "```" not in text:
        return [(0, len(text))]
    return _outside(text, _TICKS) or _outside(text, _BLOCK)


def fresh_start(text: str, pos: int, end: int) -> int:
    """The last line before `end` at which no block is open that began before it, or `pos`.

    At `pos` a line begins, and no block is open that a blank line would not end. `end` lies in a line that
    may be the answer.
    """
    if text.rfind("\n\n", pos, end) < 0:
        return pos
    before = "\n" + text[pos:end]
    for start, place in reversed(_judged(before) or ()):
        while (place := before.rfind("\n\n", start, place)) >= 0:
            if _FRESH.match(text, pos + place + 1):
                return pos + place + 1
    return pos
