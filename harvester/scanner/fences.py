"""The body of a call fence: calls in one of its forms, all of them or none (GRAMMAR 3)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from harvester.policy import ScanPolicy
from harvester.scanner.calls import OP, Written, box_action, box_object, call_object, is_bare, is_op, unwrap
from harvester.scanner.openers import OPENER, Kind, read_construct
from harvester.scanner.passage import Passage
from messaging.strict_json import StrictJsonError, decode_at
from patterns import vocabulary


class Placed(NamedTuple):
    """A call and where its text stands in the body."""

    call: Written
    start: int
    end: int


class NoForm(Exception):
    """The body is none of the forms."""


_BOX: Final = "box"
_BLANKS: Final = re.compile(r"[ \t\n]*+")
_BLANK_LINE: Final = re.compile(r"\n[ \t]*\n")
_ACTION: Final = re.compile(rf"(?P<action>{'|'.join(vocabulary().box_actions)})(?:[ \t]++(?P<arg>\S+))?")
_OP_LINE: Final = re.compile(rf"(?P<op>{OP})[ \t]*+(?P<brace>\{{)?")


def _behind_blanks(text: str, pos: int) -> int:
    match = _BLANKS.match(text, pos)
    assert match is not None
    return match.end()


def _lines(text: str) -> Iterator[tuple[int, int]]:
    """Where the lines that are not blank stand, without the blanks around them."""
    start = 0
    for line in text.split("\n"):
        content = line.strip(" \t")
        if content:
            first = start + line.index(content[0])
            yield first, first + len(content)
        start += len(line) + 1


def _has_action(text: str) -> bool:
    return any(_ACTION.fullmatch(text, start, end) for start, end in _lines(text))


def _actions(text: str) -> Iterator[Placed]:
    """Lines `action` or `action arg`."""
    for start, end in _lines(text):
        match = _ACTION.fullmatch(text, start, end)
        if match is None:
            raise NoForm
        yield Placed(box_action(match["action"], match["arg"]), start, end)


def _op_lines(text: str, policy: ScanPolicy) -> Iterator[Placed]:
    """Lines `op {json}`, or `op` as in F3."""
    for start, end in _lines(text):
        match = _OP_LINE.match(text, start, end)
        if match is None or not is_op(match["op"]):
            raise NoForm
        args, behind = None, match.end()
        if match["brace"]:
            args, behind = decode_at(text, match.end() - 1, policy.max_directive_bytes)
        if behind != end or (args is None and not is_bare(match["op"], policy)):
            raise NoForm
        yield Placed(Written(match["op"], unwrap(args or {})), start, end)


def _brackets(text: str, policy: ScanPolicy) -> Iterator[Placed]:
    """Directives F1 to F4 with blanks and line breaks between; none goes over a blank line."""
    pos = _behind_blanks(text, 0)
    while pos < len(text):
        construct = read_construct(text, pos, policy) if OPENER.match(text, pos) else None
        if construct is None or construct.kind is not Kind.CALL or construct.call is None:
            raise NoForm
        if _BLANK_LINE.search(text, pos, construct.end):
            raise NoForm
        yield Placed(construct.call, pos, construct.end)
        pos = _behind_blanks(text, construct.end)


def _one(value: Any, read: Callable[[Any], Written | None], start: int, end: int) -> Placed:
    call = read(value)
    if call is None:
        raise NoForm
    return Placed(call, start, end)


def _objects(text: str, policy: ScanPolicy) -> Iterator[Placed]:
    """Call objects one after the other."""
    pos = _behind_blanks(text, 0)
    while pos < len(text):
        if text[pos] != "{":
            raise NoForm
        value, end = decode_at(text, pos, policy.max_directive_bytes)
        yield _one(value, call_object, pos, end)
        pos = _behind_blanks(text, end)


def _array(text: str, policy: ScanPolicy) -> Iterator[Placed]:
    """One array of call objects; each is read again by itself to know where it stands."""
    start = _behind_blanks(text, 0)
    values, behind = decode_at(text, start, policy.max_directive_bytes)
    if _behind_blanks(text, behind) != len(text):
        raise NoForm
    pos = start + 1
    for value in values:
        pos = text.index("{", pos) if isinstance(value, dict) else pos
        end = decode_at(text, pos, policy.max_directive_bytes)[1] if isinstance(value, dict) else pos
        yield _one(value, call_object, pos, end)
        pos = end


def _boxed(text: str, policy: ScanPolicy) -> Iterator[Placed]:
    """The one object of a box fence, or call objects."""
    start = _behind_blanks(text, 0)
    value, end = decode_at(text, start, policy.max_directive_bytes)
    if box_object(value) and _behind_blanks(text, end) == len(text):
        yield _one(value, box_object, start, end)
    else:
        yield from _objects(text, policy)


def _form(text: str, language: str, policy: ScanPolicy) -> Iterator[Placed]:
    """The calls in the form that the body begins with."""
    start = _behind_blanks(text, 0)
    if language == _BOX and _has_action(text):
        return _actions(text)
    if text.startswith("{", start):
        return _boxed(text, policy) if language == _BOX else _objects(text, policy)
    if OPENER.match(text, start):
        return _brackets(text, policy)
    return _array(text, policy) if text.startswith("[", start) else _op_lines(text, policy)


def read_body(body: Passage, language: str, policy: ScanPolicy) -> list[Placed] | None:
    """The calls of a body in order, None if there are none or any part of it is none of the forms."""
    try:
        return list(_form(body.text, language, policy)) or None
    except (NoForm, StrictJsonError):
        return None
