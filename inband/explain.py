"""`box harvest --explain`: the reply as it stands, with each directive and each skipped place marked.

Pure. A mark follows the line that the place begins on and names the rule that decided.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from exec_daemon.web.marking import Mark, Marker
from harvester import Parsed, ScanPolicy, SkipReason, parse
from messaging import canonical_json, strip_terminal

# What a person reads beside a skipped place; docs/grammar-rules.md has the whole rule.
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

# Enough to recognise the call; the reply itself stands right above.
_MOST_ARGUMENTS_CHARS: Final = 80

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
    parsed = parse(text, policy=policy)
    waiting = deque(sorted(_marks(parsed), key=lambda mark: mark.start))
    open_marks: list[_Mark] = []
    start = 0
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        end = start + len(line)
        fresh = [waiting.popleft() for _ in _until(waiting, end)]
        open_marks = [mark for mark in open_marks if mark.end > start] + fresh
        yield f"{number:>4} {_gutter(open_marks)} {_painted(line, start, open_marks, colour=colour)}".rstrip()
        yield from (_said(mark, colour=colour) for mark in fresh)
        start = end
    yield from _summary(parsed)


def _until(waiting: deque[_Mark], end: int) -> Iterator[None]:
    """Once for each mark that begins before `end`; the caller takes it off."""
    while waiting and waiting[0].start < end:
        yield


def _marks(parsed: Parsed) -> Iterator[_Mark]:
    for found in parsed.calls:
        arguments = canonical_json(dict(found.call.args))
        yield _Mark(*found.span, _GREEN, f"{found.form}: calls {found.call.op} {_clipped(arguments)}")
    for skip in parsed.skipped:
        yield _Mark(*skip.span, _YELLOW, f"skipped: {RULES[skip.reason]}")
    if parsed.verdict:
        yield _Mark(*parsed.verdict.span, _CYAN, f"verdict {parsed.verdict.word}")


_KINDS: Final = {_GREEN: "call", _YELLOW: "skipped", _CYAN: "verdict"}


def page_marks(policy: ScanPolicy) -> Marker:
    """The places of a reply for the web page, which knows no grammar."""

    def marks(text: str) -> list[Mark]:
        found = _marks(parse(text, policy=policy))
        return [Mark(mark.start, mark.end, _KINDS[mark.colour], mark.text) for mark in found]

    return marks


def _clipped(text: str) -> str:
    return text if len(text) <= _MOST_ARGUMENTS_CHARS else f"{text[: _MOST_ARGUMENTS_CHARS - 1]}…"


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


def _summary(parsed: Parsed) -> Iterator[str]:
    yield ""
    calls = ", ".join(found.call.op for found in parsed.calls) or "none"
    verdict = parsed.verdict.word if parsed.verdict else "none"
    yield f"calls: {calls}; skipped: {len(parsed.skipped)}; verdict: {verdict}"
    if parsed.notice:
        yield f"limit: {parsed.notice.message}"
