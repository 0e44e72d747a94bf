"""Quotations in prose and struck-out text (GRAMMAR 2.7 and 2.8), once it is known which marks count."""

from __future__ import annotations

from collections.abc import Iterable

from tests.oracle import flanks

Place = tuple[int, int]

# closing mark -> the opening marks that it matches
CLOSES = {
    "”": "“„",
    "“": "„",
    "»": "«",
    "«": "»",
    "›": "‹",
    "」": "「",
    "』": "『",
    "’": "‘",
    '"': '"',
}
OPENS = frozenset('“„«»‹「『‘"')
MARKS = OPENS | CLOSES.keys()


def quotations(text: str, marks: Iterable[int]) -> list[Place]:
    """The quoted places, given the offsets of the marks that count."""
    opened: list[int] = []
    partnered: set[int] = set()
    found: list[Place] = []
    for at in marks:
        partner = _partner(text, at, opened)
        if partner is not None:
            opened.remove(partner)
            partnered |= {at, partner}
            found.append((partner, at + 1))
        elif _may_open(text, at):
            opened.append(at)
    if text[:1] in MARKS and text and 0 not in partnered:
        found.append((0, len(text)))
    return found


def _partner(text: str, at: int, opened: list[int]) -> int | None:
    """The innermost open mark that the mark at `at` closes."""
    mark, following = text[at], text[at + 1 : at + 2]
    if (mark == "’" and following.isalpha()) or (mark == '"' and not flanks.right(text, *_run(text, at))):
        return None
    matching = [place for place in opened if text[place] in CLOSES.get(mark, "")]
    return matching[-1] if matching else None


def _may_open(text: str, at: int) -> bool:
    return text[at] in OPENS and (text[at] != '"' or flanks.left(text, *_run(text, at)))


def _run(text: str, at: int) -> Place:
    """The run of equal characters around `at`: what CommonMark asks flanking of."""
    start = len(text[:at].rstrip(text[at]))
    return start, start + len(text[start:]) - len(text[start:].lstrip(text[at]))


def strikes(text: str, runs: Iterable[int]) -> list[Place]:
    """The struck-out places, given the offsets of the runs of exactly two tildes."""
    opened: int | None = None
    found: list[Place] = []
    for at in runs:
        if opened is not None and flanks.right(text, at, at + 2):
            found.append((opened, at + 2))
            opened = None
        elif opened is None and flanks.left(text, at, at + 2):
            opened = at
    return found
