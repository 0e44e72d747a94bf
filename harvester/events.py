"""What the scanner reports: frozen events, spans half-open in code points of the whole reply (GRAMMAR 7)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

Span: TypeAlias = tuple[int, int]


class Form(StrEnum):
    """How a directive is written (GRAMMAR 1)."""

    F1 = "F1"
    F2 = "F2"
    F3 = "F3"
    F4 = "F4"
    F5 = "F5"
    F6 = "F6"
    NATIVE = "native"  # 9: written in a dialect that a model was trained on


class SkipReason(StrEnum):
    """Why a place that looks like a directive is none or does not run; the number is GRAMMAR's section."""

    REASONING = "reasoning"  # 2
    FENCE = "fence"  # 2.1
    INDENTED = "indented_code"  # 2.2
    BLOCK_QUOTE = "block_quote"  # 2.3
    HTML_BLOCK = "html_block"  # 2.4
    TOO_DEEP = "too_deep"  # 2: more containers than the limit
    TOO_LONG = "too_long"  # 2: a paragraph, heading or table row over the limit
    CODE_SPAN = "code_span"  # 2.5
    HTML = "html"  # 2.6
    STRUCK = "struck_out"  # 2.7
    QUOTED = "quoted"  # 2.8
    ESCAPED = "escaped"  # 1
    IMAGE = "image"  # 1
    LINK = "link"  # 1
    PROSE = "prose"  # 1: the opener begins no form
    NO_CALL = "no_call"  # 4: strict JSON, but no call object
    BROKEN = "broken"  # 4
    DEAD = "dead"  # 4: behind a broken directive
    CUT_OFF = "cut_off"  # 3: a call fence that its own fence does not close
    BAD_BLOCK = "bad_block"  # 3: a part of the body is none of the forms
    BLOCK_TOO_LONG = "block_too_long"  # 3
    CURL = "curl"  # 6: a curl line that is no call
    LIMIT_CALLS = "limit_calls"  # 5.4
    LIMIT_REPLY = "limit_reply"  # 5.4
    LIMIT_TAGS = "limit_tags"  # 2: too many reasoning tags in the middle of paragraphs


@dataclass(frozen=True, slots=True)
class Directive:
    """A live directive. `op` and `args` are what the text says, before names are normalised (GRAMMAR 5).

    F2 has the op `dm.send`; an action of a box fence has `box.exec` and `{"action": …, "arg"?: …}`.
    In a fence each call is a directive of its own, and its span is its own text. `id` is the call object's.
    """

    form: Form
    op: str
    args: dict[str, Any]
    span: Span
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Skipped:
    """A place that does not run: for `--explain` and the metrics only, never posted, never stored."""

    reason: SkipReason
    span: Span


@dataclass(frozen=True, slots=True)
class Verdict:
    """A good `[RESULT]` line; the last one counts (GRAMMAR 8). PASS, FAIL, BLOCKED, PARTIAL or SKIP."""

    word: str
    summary: str | None
    artifacts: tuple[Any, ...] | None
    span: Span


Event: TypeAlias = Directive | Skipped | Verdict
