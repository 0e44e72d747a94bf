"""Text that needs no reading: where something could matter, and from where on structure has to be known.

Both are found with passes that begin with a literal, which run at the speed of memory. What they leave out
could not have made an event, and cannot be what surrounds one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, TypeAlias

from harvester.scanner.openers import OPENER
from harvester.scanner.tags import REASONING, REASONING_END
from patterns import vocabulary

_CALL: Final = rf"(?:[ \t]*+(?P<call>(?ai:{'|'.join(vocabulary().call_fences)})))?"
# A run is taken whole, or each of its characters would be a new beginning.
_RUNS: Final = {"```": re.compile(rf"```+{_CALL}"), "~~~": re.compile(rf"~~~+{_CALL}")}
_Find: TypeAlias = Callable[[str, int], int]


def _pattern(pattern: re.Pattern[str]) -> _Find:
    def find(text: str, pos: int) -> int:
        match = pattern.search(text, pos)
        return match.start() if match else -1

    return find


def _call_fence(runs: re.Pattern[str]) -> _Find:
    def find(text: str, pos: int) -> int:
        return next((match.start() for match in runs.finditer(text, pos) if match["call"]), -1)

    return find


# What an event can come from, and what has to be there before it is worth searching.
_TRIGGERS: Final[tuple[tuple[str, _Find], ...]] = (
    ("[", _pattern(OPENER)),
    ("<", _pattern(REASONING)),
    ("<", _pattern(REASONING_END)),
    ("curl ", _pattern(re.compile("curl "))),
    *((run, _call_fence(pattern)) for run, pattern in _RUNS.items()),
)


def can_matter(text: str) -> bool:
    """May an event come of these lines?"""
    return any(sign in text and find(text, 0) >= 0 for sign, find in _TRIGGERS)


class Triggers:
    """The places in a text from which events can come, asked for from places that only go forward."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._next = {find: -1 for _, find in _TRIGGERS}

    def after(self, pos: int) -> int:
        """The first one from `pos` on; the length of the text if there is none."""
        for find, place in self._next.items():
            if place < pos:
                found = find(self._text, pos)
                self._next[find] = found if found >= 0 else len(self._text)
        return min(self._next.values())


# Behind an empty line, the first character of a line that ends every list, quote and paragraph before it.
_FRESH: Final = re.compile(r"[^ \t>#`~=_*+<|:0-9\r\n-]")
# A line that may begin an HTML block, or a fence that a container or its indentation makes hard to judge.
_HARD: Final = re.compile(r"\n(?:[ \t>*+0-9.)-]++(?:`{3}|~{3}|<)|<)")
_FENCE: Final = re.compile(r"\n(?P<run>`{3,}|~{3,})(?P<info>[^\n]*+)")


def _fences(text: str) -> list[tuple[int, int]]:
    """The fenced code in a text where each begins at the left margin; an open one goes to the end."""
    found: list[tuple[int, int]] = []
    run, start = "", 0
    for match in _FENCE.finditer(text):
        if not run:
            if match["run"][0] == "~" or "`" not in match["info"]:
                run, start = match["run"], match.start()
        elif match["run"].startswith(run) and not match["info"].strip(" \t"):
            found.append((start, match.end()))
            run = ""
    return [*found, (start, len(text))] if run else found


def fresh_start(text: str, pos: int, end: int) -> int:
    """The last line before `end` at which no block is open that began before it, or `pos`.

    At `pos` a line begins, and no block is open that a blank line would not end. `end` lies in a line that
    may be the answer.
    """
    before = "\n" + text[pos:end]
    if "\r" in before or _HARD.search(before):
        return pos
    fences = _fences(before) if "```" in before or "~~~" in before else []
    place = len(before)
    while (place := before.rfind("\n\n", 0, place)) >= 0:
        while fences and fences[-1][0] > place:
            fences.pop()
        if fences and place < fences[-1][1]:
            place = fences[-1][0]
        elif _FRESH.match(text, pos + place + 1):
            return pos + place + 1
    return pos
