"""Text that needs no reading: where something could matter, and from where on structure has to be known.

Both are found with passes that begin with a literal, which run at the speed of memory. What they leave out
could not have made an event, and cannot be what surrounds one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, TypeAlias

from harvester.scanner.openers import OPENER
from harvester.scanner.tags import REASONING_NAME
from patterns import vocabulary

_CALL: Final = rf"[ \t]*+(?ai:{'|'.join(vocabulary().call_fences)})"
_Find: TypeAlias = Callable[[str, int], int]


def _pattern(pattern: str) -> _Find:
    compiled = re.compile(pattern)

    def find(text: str, pos: int) -> int:
        match = compiled.search(text, pos)
        return match.start() if match else -1

    return find


# What an event can come from, and what has to be there before it is worth searching.
_TRIGGERS: Final[tuple[tuple[str, _Find], ...]] = (
    ("[", _pattern(OPENER.pattern)),
    ("<", _pattern(rf"</?{REASONING_NAME}")),
    ("curl ", _pattern("curl ")),
    ("`", _pattern(f"```{_CALL}")),
    ("~", _pattern(f"~~~{_CALL}")),
)


def can_matter(text: str) -> bool:
    """May an event come of these lines?"""
    for sign, find in _TRIGGERS:  # noqa: SIM110 (asked for each line of a stream: a generator costs as much again)
        if sign in text and find(text, 0) >= 0:
            return True
    return False


class Triggers:
    """The places in a text from which events can come, asked for from places that only go forward."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._next = {find: -1 for sign, find in _TRIGGERS if sign in text}

    def after(self, pos: int) -> int:
        """The first one from `pos` on; the length of the text if there is none."""
        for find, place in self._next.items():
            if place < pos:
                found = find(self._text, pos)
                self._next[find] = found if found >= 0 else len(self._text)
        return min(self._next.values(), default=len(self._text))


# Behind an empty line, the first character of a line that ends every list, quote and paragraph before it.
_FRESH: Final = re.compile(r"[^ \t>#`~=_*+<|:0-9\r\n-]")
# A fence at the left margin; or, without a `run`, a line that may begin an HTML block, or a fence that a
# container or its indentation makes hard to judge.
_BLOCK: Final = re.compile(r"\n(?:(?P<run>`{3,}|~{3,})(?P<info>[^\n]*+)|[ \t>*+0-9.)-]*+(?:`{3}|~{3}|<))")
_BLOCK_SIGNS: Final = ("<", "```", "~~~")


def _fences(text: str) -> list[tuple[int, int]] | None:
    """The fenced code in a text where all is easy to judge, else None; an open one goes to the end."""
    found: list[tuple[int, int]] = []
    run, start = "", 0
    for match in _BLOCK.finditer(text):
        fence, info = match.groups()
        if fence is None:
            return None
        if not run:
            if fence[0] == "~" or "`" not in info:
                run, start = fence, match.start()
        elif fence.startswith(run) and not info.strip(" \t"):
            found.append((start, match.end()))
            run = ""
    return [*found, (start, len(text))] if run else found


def fresh_start(text: str, pos: int, end: int) -> int:
    """The last line before `end` at which no block is open that began before it, or `pos`.

    At `pos` a line begins, and no block is open that a blank line would not end. `end` lies in a line that
    may be the answer.
    """
    before = "\n" + text[pos:end]
    fences = _fences(before) if any(sign in before for sign in _BLOCK_SIGNS) else []
    if fences is None or "\r" in before:
        return pos
    place = len(before)
    while (place := before.rfind("\n\n", 0, place)) >= 0:
        while fences and fences[-1][0] > place:
            fences.pop()
        if fences and place < fences[-1][1]:
            place = fences[-1][0]
        elif _FRESH.match(text, pos + place + 1):
            return pos + place + 1
    return pos
