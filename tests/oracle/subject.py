"""What the scanner makes of a text, in the oracle's terms."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from harvester import Directive, Event, Form, Scanner, ScanPolicy, Verdict, parse
from tests.oracle.oracle import Expected, expected

# How two readings differ: runs too much, too little, the verdict, the pieces, the whole reply, the place.
FAILS_OPEN, MISSES, VERDICT, CHUNKS, PARSE, SPAN = "FAILS_OPEN MISSES VERDICT CHUNKS PARSE SPAN".split()

_BRACKETS = (Form.F1, Form.F2, Form.F3, Form.F4)


@dataclass(frozen=True)
class Difference:
    """One text on which the readings differ, and how."""

    kind: str
    text: str
    scanner: str
    oracle: str


def events(text: str, cuts: list[int] | None = None) -> list[Event]:
    """All events of a text that is fed in pieces cut at `cuts`."""
    scanner = Scanner(ScanPolicy())
    borders = [0, *(cuts or []), len(text)]
    found: list[Event] = []
    for start, end in pairwise(borders):
        found += scanner.feed(text[start:end])
    return found + scanner.close()


def differs(text: str, cuts_seed: int = 0) -> Difference | None:
    """How the scanner differs from the oracle on a text, or from itself when the text comes in pieces."""
    found = events(text)
    told = expected(text, whole=False)
    kind = _kind(found, told)
    if kind is not None:
        return Difference(kind, text, _shown(found), f"{told.calls} {told.verdict}")
    return _in_pieces(text, found, _cuts(text, cuts_seed)) or _parsed(text)


def _in_pieces(text: str, found: list[Event], cuts: list[int]) -> Difference | None:
    pieces = events(text, cuts)
    return None if pieces == found else Difference(CHUNKS, text, f"{cuts} {pieces}", str(found))


def _parsed(text: str) -> Difference | None:
    """How `parse`, which also knows orphan closing tags and canonical names, differs from the oracle."""
    read, told = parse(text), expected(text)
    ran = [_key(one.call.op, dict(one.call.args)) for one in read.calls]
    word = read.verdict.word if read.verdict else None
    if ran == [_key(op, args) for op, args in told.normal] and word == told.verdict:
        return None
    return Difference(PARSE, text, f"{ran} {word}", f"{told.normal} {told.verdict}")


def _kind(found: list[Event], told: Expected) -> str | None:
    ran = [_key(event.op, event.args) for event in found if isinstance(event, Directive)]
    wanted = [_key(op, args) for op, args in told.calls]
    if ran != wanted:
        extra = list(ran)
        for call in wanted:
            if call in extra:
                extra.remove(call)
        return FAILS_OPEN if extra else MISSES
    if _places(found) != [(call.form, call.at) for call in told.seen if call.form in _BRACKETS]:
        return SPAN
    words = [event.word for event in found if isinstance(event, Verdict)]
    return None if (words[-1] if words else None) == told.verdict else VERDICT


def _places(found: list[Event]) -> list[tuple[str, int]]:
    """Form and beginning of what ran outside fences."""
    ran = [event for event in found if isinstance(event, Directive)]
    return [(event.form, event.span[0]) for event in ran if event.form in _BRACKETS]


def _key(op: str, args: dict[str, Any]) -> str:
    return op + json.dumps(args, sort_keys=True)


def _cuts(text: str, seed: int) -> list[int]:
    """Single characters for short texts at times, else a few random places."""
    chance = random.Random(seed)
    if len(text) < 300 and chance.random() < 0.3:
        return list(range(1, len(text)))
    return sorted(chance.randint(0, len(text)) for _ in range(chance.randint(1, 6)))


def _shown(found: list[Event]) -> str:
    return "; ".join(f"{event!r}" for event in found)
