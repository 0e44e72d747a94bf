"""Bracket directives F1 to F4 at one place of a text (GRAMMAR 1 and 4)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from tests.oracle import strict
from tests.oracle.calls import LONGEST_OP, OP, Call, call_object, is_bare, unwrapped

OPENER = re.compile(r"\[(?:(TOOL|EXEC|DM)(?!\w)|RESULT[ \t\n]*(?=\{))")
_BLANKS = re.compile(r"[ \t\n]*")
_OWN = re.compile(
    rf"\[(?:(?:TOOL|EXEC)(?!\w)[ \t\n]*(?:{OP.pattern}[ \t\n]*)?|(?:DM|RESULT)(?!\w)[ \t\n]*)\{{"
)
_LINE_END = re.compile(r"[ \t]*\][ \t]*(?=\n|$)")
LONGEST_BYTES = 64 * 1024


@dataclass(frozen=True)
class Found:
    """What an opener turned out to be; offsets are into the text that was read.

    `call` is set where it is a complete directive, `broken` where its JSON is broken (`resume` then tells
    where the scan goes on if its `}` and `]` end their line); neither where it is no directive. `json` is the
    place of its object, `end` the place behind its `]` if there is one (`closed`).
    """

    end: int
    form: str = ""
    call: Call | None = None
    broken: bool = False
    closed: bool = False
    json: tuple[int, int] = (0, 0)
    resume: int | None = None


def read(text: str, at: int) -> Found | None:
    """What stands at the `[` at `at`; None if that is no opener.

    A `[` directly behind makes a link of it unless a directive opens there, which again depends on what is
    behind that one: so the chain is followed to its end and decided from there.
    """
    chain = [_alone(text, at)]
    while (last := chain[-1]) and last.closed and text[last.end : last.end + 1] == "[":
        chain.append(_alone(text, last.end))
    following: Found | None = None
    for found in reversed(chain):
        following = _unless_link(text, found, following)
    return following


def own_brace(text: str, at: int) -> int | None:
    """Where the `{` of an opener stands that has only blanks and an op before it."""
    own = _OWN.match(text, at)
    return own.end() - 1 if own else None


def _unless_link(text: str, found: Found | None, following: Found | None) -> Found | None:
    if found is None or not found.closed:
        return found
    behind = text[found.end : found.end + 1]
    opens = following is not None and (following.call is not None or following.broken)
    return Found(found.end) if behind == "(" or (behind == "[" and not opens) else found


def _alone(text: str, at: int) -> Found | None:
    opener = OPENER.match(text, at)
    if opener is None:
        return None
    nothing = Found(opener.end())
    if opener.group(1) is None or _escaped(text, at) or text[at - 1 : at] == "!":
        return nothing
    return _shape(text, at, opener) or nothing


def _escaped(text: str, at: int) -> bool:
    before = text[:at]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1


def _shape(text: str, at: int, opener: re.Match[str]) -> Found | None:
    engine, place = opener.group(1), _skip(text, opener.end())
    if text[place : place + 1] == "{":
        return _with_json(text, at, place, "F2" if engine == "DM" else "F4", "dm.send")
    op = OP.match(text, place)
    if engine == "DM" or op is None or len(op.group()) > LONGEST_OP:
        return None
    place = _skip(text, op.end())
    if text[place : place + 1] == "{":
        return _with_json(text, at, place, "F1", op.group())
    if text[place : place + 1] == "]" and is_bare(op.group()):
        found = Found(place + 1, "F3", (op.group(), {}), closed=True)
        return _broken(text, place, place, "F3") if _too_long(text, at, place + 1) else found
    return None


def _with_json(text: str, at: int, start: int, form: str, op: str) -> Found | None:
    end = strict.balanced(text, start)
    if end is None:
        return Found(len(text), form, broken=True)
    place = _skip(text, end)
    if text[place : place + 1] != "]":
        return Found(end, form, broken=True, json=(start, end))
    broken = _broken(text, start, end, form)
    if _too_long(text, at, place + 1):
        return broken
    try:
        found = strict.value(text[start:end])
    except strict.NotStrictError:
        return broken
    call = _call(form, op, found)
    return call and Found(place + 1, form, call, closed=True, json=(start, end))


def _broken(text: str, start: int, end: int, form: str) -> Found:
    """A broken directive whose balanced text is text[start:end], with its `]` behind."""
    ends = _LINE_END.match(text, end)
    return Found(_skip(text, end) + 1, form, None, True, True, (start, end), ends.end() if ends else None)


def _too_long(text: str, start: int, end: int) -> bool:
    return len(text[start:end].encode("utf-8", "surrogatepass")) > LONGEST_BYTES


def _call(form: str, op: str, found: dict[str, Any]) -> Call | None:
    if form == "F4":
        return call_object(found)
    return op, unwrapped(found) if form == "F1" else found


def _skip(text: str, at: int) -> int:
    blanks = _BLANKS.match(text, at)
    return blanks.end() if blanks else at
