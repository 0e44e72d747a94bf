"""`box harvest --explain`: the reply as it stands, with each directive and each skipped place marked.

Pure. A mark follows the line that the place begins on and names the rule that decided.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from harvester import Directive, Event, ScanPolicy, SkipReason, Verdict, parse
from harvester.scanner import scan_reply
from messaging import strip_terminal

# What a person reads beside a skipped place, and where docs/grammar.md says more.
RULES: Final = {
    SkipReason.REASONING: "inside reasoning",
    SkipReason.FENCE: "inside a code fence that is no call fence",
    SkipReason.INDENTED: "inside indented code",
    SkipReason.BLOCK_QUOTE: "inside a block quote",
    SkipReason.HTML_BLOCK: "inside an HTML block",
    SkipReason.TOO_DEEP: "nested in more lists and quotes than are followed",
    SkipReason.TOO_LONG: "in a paragraph that is too long",
    SkipReason.CODE_SPAN: "in or against a code span",
    SkipReason.HTML: "inside HTML",
    SkipReason.STRUCK: "struck out",
    SkipReason.QUOTED: "inside quotation marks",
    SkipReason.ESCAPED: "escaped by a backslash",
    SkipReason.IMAGE: "an image",
    SkipReason.LINK: "a link",
    SkipReason.PROSE: "no form of a directive, so prose",
    SkipReason.NO_CALL: "JSON, but no call object",
    SkipReason.BROKEN: "broken: not strict JSON, or no closing bracket",
    SkipReason.DEAD: "behind a broken directive, up to the next blank line",
    SkipReason.CUT_OFF: "a call fence that its own fence does not close",
    SkipReason.BAD_BLOCK: "a call fence with a part that is no call, so none of it runs",
    SkipReason.BLOCK_TOO_LONG: "a call fence that is too long",
    SkipReason.CURL: "a curl that is no call of ours",
    SkipReason.LIMIT_CALLS: "past the limit of calls a reply",
    SkipReason.LIMIT_REPLY: "past the size of a reply that is read",
    SkipReason.LIMIT_TAGS: "past the limit of reasoning tags",
}

_GREEN, _YELLOW, _CYAN, _PLAIN = "\x1b[32m", "\x1b[33m", "\x1b[36m", "\x1b[0m"


@dataclass(frozen=True, slots=True)
class _Mark:
    """What is said about one place of the reply."""

    start: int
    end: int
    colour: str
    text: str


def explain(text: str, policy: ScanPolicy, *, colour: bool) -> Iterator[str]:
    """The lines of the explanation, control codes of the reply removed, then a summary."""
    marks = [_mark(event) for event in scan_reply(text, policy)]
    waiting = sorted(marks, key=lambda mark: mark.start)
    start = 0
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        end = start + len(line)
        inside = [mark for mark in marks if mark.start < end and start < mark.end]
        yield f"{number:>4} {_gutter(inside)} {_painted(line, start, inside, colour=colour)}"
        while waiting and waiting[0].start < end:
            yield _said(waiting.pop(0), colour=colour)
        start = end
    yield from _summary(text, policy)


def _mark(event: Event) -> _Mark:
    start, end = event.span
    if isinstance(event, Directive):
        return _Mark(start, end, _GREEN, f"{event.form}: calls {event.op}")
    if isinstance(event, Verdict):
        return _Mark(start, end, _CYAN, f"verdict {event.word}")
    return _Mark(start, end, _YELLOW, f"skipped: {RULES[event.reason]}")


def _gutter(inside: list[_Mark]) -> str:
    """`▶` beside what runs, `·` beside what is skipped: the same to see without colour."""
    if any(mark.colour == _GREEN for mark in inside):
        return "▶"
    if any(mark.colour == _CYAN for mark in inside):
        return "="
    return "·" if inside else " "


def _painted(line: str, start: int, inside: list[_Mark], *, colour: bool) -> str:
    shown = line.rstrip("\r\n")
    if not colour:
        return strip_terminal(shown)
    parts, at = [], 0
    for mark in sorted(inside, key=lambda one: one.start):
        begin, end = max(mark.start - start, at), min(max(mark.end - start, at), len(shown))
        parts += [shown[at:begin], mark.colour, shown[begin:end], _PLAIN]
        at = max(end, begin)
    pieces = [*parts, shown[at:]]
    return "".join(
        piece if piece in (_GREEN, _YELLOW, _CYAN, _PLAIN) else strip_terminal(piece) for piece in pieces
    )


def _said(mark: _Mark, *, colour: bool) -> str:
    said = f"       └ {strip_terminal(mark.text)}"
    return f"{mark.colour}{said}{_PLAIN}" if colour else said


def _summary(text: str, policy: ScanPolicy) -> Iterator[str]:
    parsed = parse(text, policy=policy)
    yield ""
    calls = ", ".join(found.call.op for found in parsed.calls) or "none"
    verdict = parsed.verdict.word if parsed.verdict else "none"
    yield f"calls: {calls}; skipped: {len(parsed.skipped)}; verdict: {verdict}"
    if parsed.notice:
        yield f"limit: {parsed.notice.message}"
