"""A reply in pieces: what runs, what was passed over, and the text between, each piece once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

# `#2 dm.send heron · failed · 3 ms`, as harvesters head each result.
_HEADING: Final = re.compile(r"^#(\d{1,3}) .{1,200}? · (ok|failed) · ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Mark:
    """A place of a reply, half-open in code points: a `call`, `skipped` or a `verdict`; `text` says why."""

    start: int
    end: int
    kind: str
    text: str


# Reads a reply and finds its places, in their order. The daemon knows no grammar; who composes it brings one.
Marker: TypeAlias = Callable[[str], Sequence[Mark]]


def no_marks(_: str) -> Sequence[Mark]:
    """A daemon on its own shows replies as they are."""
    return ()


@dataclass(frozen=True, slots=True)
class Piece:
    """Text with the mark that it stands under, if any. `number` counts the calls from 1, as results do."""

    text: str
    mark: Mark | None = None
    number: int | None = None
    outcome: str = ""


def pieces(text: str, marks: Sequence[Mark], outcomes: Mapping[int, str]) -> Iterator[Piece]:
    """The reply from its first character to its last. Marks that overlap an earlier one are left out."""
    at, number = 0, 0
    for mark in sorted(marks, key=lambda one: (one.start, one.end)):
        if mark.kind == "call":
            number += 1
        if mark.start < at or mark.end > len(text):
            continue
        if mark.start > at:
            yield Piece(text[at : mark.start])
        counted = number if mark.kind == "call" else None
        yield Piece(text[mark.start : mark.end], mark, counted, outcomes.get(number, "") if counted else "")
        at = mark.end
    if at < len(text):
        yield Piece(text[at:])


def outcomes(result: str) -> dict[int, str]:
    """`ok` or `failed` by the number of the call, from a message of results."""
    return {int(number): outcome for number, outcome in _HEADING.findall(result)}
