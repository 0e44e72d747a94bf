"""What begins at an opener: one of F1 to F4, something broken, or prose (GRAMMAR 1 and 4)."""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import Any, Final, NamedTuple

from harvester.events import Form, SkipReason
from harvester.policy import ScanPolicy
from harvester.scanner.calls import OP, Written, call_object, is_bare, is_op, unwrap
from messaging.strict_json import StrictJsonError, decode_at

# GRAMMAR 1: engine words are whole words.
ENGINE: Final = r"(?:TOOL|EXEC|DM|RESULT)(?!\w)"
OPENER: Final = re.compile(rf"\[{ENGINE}")
_SHAPE: Final = re.compile(rf"\[(?P<engine>{ENGINE})[ \t\n]*+(?P<op>(?:{OP})?)[ \t\n]*+(?P<next>[{{\]]?)")
_CLOSE: Final = re.compile(r"[ \t\n]*+\]")
# What has another beginning than this is no object, which is found out sooner here.
_OBJECT: Final = re.compile(r"\{[ \t\r\n]*+[\"}]")


def _backslashes(text: str, place: int) -> int:
    """How many stand before `place`; most often none, and never is all of a long text looked at for them."""
    size = 1
    while True:
        before = text[max(0, place - size) : place]
        found = len(before) - len(before.rstrip("\\"))
        if found < size:
            return found
        size *= 8


def marked(text: str, place: int) -> SkipReason | None:
    """GRAMMAR 1: no directive behind an odd number of backslashes, or directly behind `!`."""
    if _backslashes(text, place) % 2:
        return SkipReason.ESCAPED
    return SkipReason.IMAGE if place and text[place - 1] == "!" else None


class Kind(Enum):
    """What an opener turned out to begin."""

    CALL = auto()
    NO_CALL = auto()  # F4 whose object is no call
    BROKEN = auto()
    PROSE = auto()


class Construct(NamedTuple):
    """`end` is behind the `]` (CALL, NO_CALL), else -1; `brace` is where its own `{` stands, or -1."""

    kind: Kind
    start: int
    end: int = -1
    brace: int = -1
    form: Form = Form.F1
    call: Written | None = None

    @property
    def is_directive(self) -> bool:
        """Complete or broken."""
        return self.kind is Kind.CALL or self.kind is Kind.BROKEN


def _with_json(shape: re.Match[str], value: dict[str, Any]) -> tuple[Form, Written | None]:
    op = shape["op"]
    if shape["engine"] == "DM":
        return Form.F2, Written("dm.send", value)
    if op:
        return Form.F1, Written(op, unwrap(value))
    return Form.F4, call_object(value)


def _braced(text: str, shape: re.Match[str], policy: ScanPolicy) -> Construct:
    start, brace = shape.start(), shape.end() - 1
    if _OBJECT.match(text, brace) is None:
        return Construct(Kind.BROKEN, start, brace=brace)
    try:
        value, end = decode_at(text, brace, policy.max_directive_bytes)
    except StrictJsonError:
        return Construct(Kind.BROKEN, start, brace=brace)
    close = _CLOSE.match(text, end)
    if close is None:
        return Construct(Kind.BROKEN, start, brace=brace)
    form, call = _with_json(shape, value)
    return Construct(Kind.CALL if call else Kind.NO_CALL, start, close.end(), brace, form, call)


def _names_directive(shape: re.Match[str]) -> bool:
    """GRAMMAR 1: `[DM` and `[RESULT` with a word behind them are text, and so is a name that is too long."""
    op = shape["op"]
    return not op or (shape["engine"] in {"TOOL", "EXEC"} and is_op(op))


def read_construct(text: str, start: int, policy: ScanPolicy) -> Construct:
    """What begins at the opener at `start`. The size of it is not judged here."""
    shape = _SHAPE.match(text, start)
    assert shape is not None
    if shape["next"] == "{" and shape["engine"] == "RESULT":
        return Construct(Kind.PROSE, start, brace=-1 if shape["op"] else shape.end() - 1)
    if shape["next"] == "{" and _names_directive(shape):
        return _braced(text, shape, policy)
    if shape["next"] == "]" and shape["op"] and _names_directive(shape) and is_bare(shape["op"], policy):
        return Construct(Kind.CALL, start, shape.end(), form=Form.F3, call=Written(shape["op"], {}))
    return Construct(Kind.PROSE, start)


_STRING_OR_BRACE: Final = re.compile(r'"[^"\\]*+(?>(?:\\[\s\S][^"\\]*+)*)"?|\{|\}')


def balanced_end(text: str, brace: int) -> int | None:
    """Behind the `}` that balances the `{` at `brace`; strings and their escapes are stepped over."""
    depth = 0
    for match in _STRING_OR_BRACE.finditer(text, brace):
        if match[0] == "{":
            depth += 1
        elif match[0] == "}":
            depth -= 1
            if not depth:
                return match.end()
    return None


def closed_end(text: str, brace: int) -> int:
    """Behind the `]` that follows the balanced end of the `{` at `brace`, -1 if none does."""
    end = balanced_end(text, brace)
    close = _CLOSE.match(text, end) if end else None
    return close.end() if close else -1


_STOP: Final = re.compile(r"[\]{]")


class Ahead:
    """Looks ahead in a text from places that only go forward, so that no stretch is searched twice."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._stop = self._line_end = -1
        self._line = 0

    def brace(self, start: int, bound: int) -> int:
        """The first `{` from `start` to before `bound` with no `]` before it, or -1."""
        if self._stop < start:
            match = _STOP.search(self._text, start)
            self._stop = match.start() if match else len(self._text)
        return self._stop if self._stop < bound and self._text[self._stop] == "{" else -1

    def line(self, place: int) -> tuple[int, int]:
        """Where the line of `place` begins and ends."""
        if place > self._line_end:
            self._line = self._text.rfind("\n", max(0, self._line_end), place) + 1
            found = self._text.find("\n", place)
            self._line_end = found if found >= 0 else len(self._text)
        return self._line, self._line_end
