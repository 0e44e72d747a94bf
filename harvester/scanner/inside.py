"""The inside of a paragraph, heading or table row: which of its directives run (GRAMMAR 1, 2, 4 and 8)."""

from __future__ import annotations

import re
from heapq import merge
from typing import Final

from harvester.events import Directive, Form, SkipReason, Span, Verdict
from harvester.policy import ScanPolicy
from harvester.scanner.ledger import Ledger
from harvester.scanner.openers import (
    OPENER,
    Ahead,
    Construct,
    Kind,
    balanced_end,
    closed_end,
    marked,
    read_construct,
)
from harvester.scanner.passage import Passage, utf8_bytes
from harvester.scanner.stretches import Curl, Layout
from harvester.scanner.sweep import Sweep
from harvester.scanner.tags import REASONING, REASONING_END
from harvester.scanner.verdicts import read_verdict

_COMMAND_LINE: Final = re.compile(r"^(?:\$ )?curl ", re.MULTILINE)
_BROKEN_END: Final = re.compile(r"[ \t\n]*+\]")
_ENDS_LINE: Final = re.compile(r"[ \t]*+\][ \t]*+(?:\n|\Z)")


def worth_reading(text: str) -> bool:
    """Can an event come from this text? Most text is not looked at any further."""
    return (
        ("[" in text and OPENER.search(text) is not None)
        or ("<" in text and (REASONING.search(text) or REASONING_END.search(text)) is not None)
        or ("curl " in text and _COMMAND_LINE.search(text) is not None)
    )


def _alone(text: str, ledger: Ledger) -> Construct | None:
    """The directive that all of a text is: nothing is left that could make it inert, or be inert."""
    if not text.endswith("]") or OPENER.match(text) is None:
        return None
    construct = read_construct(text, 0, ledger.policy)
    return construct if construct.kind is Kind.CALL and construct.end == len(text) else None


def _most_bytes(policy: ScanPolicy) -> int:
    return min(policy.max_directive_bytes, policy.max_paragraph_bytes)


def run_line(text: str, start: int, ledger: Ledger) -> bool:
    """Run a paragraph of one line, which stands at `start`, if all of it is one directive."""
    construct = _alone(text, ledger)
    if construct is None or utf8_bytes(text) > _most_bytes(ledger.policy):
        return False
    ledger.run_one(_directive(construct, (start, start + len(text))))
    return True


def run_alone(passage: Passage, ledger: Ledger) -> bool:
    """Run a text if all of it is one directive."""
    construct = _alone(passage.text, ledger)
    if construct is None or passage.written_bytes(0, construct.end) > _most_bytes(ledger.policy):
        return False
    ledger.run_one(_directive(construct, passage.span(0, construct.end)))
    return True


def _directive(construct: Construct, span: Span) -> Directive:
    call = construct.call
    assert call is not None
    return Directive(construct.form, call.op, call.args, span, call.id)


class Inside:
    """Goes through the openers and commands of a text, in order."""

    def __init__(self, passage: Passage, layout: Layout, ledger: Ledger) -> None:
        self._passage = passage
        self._text = passage.text
        self._layout = layout
        self._ledger = ledger
        self._sweep = Sweep(layout)
        self._ahead = Ahead(passage.text)
        self._pos = 0
        self._judged = -1
        self._links: dict[int, bool] = {}

    def read(self) -> None:
        """Report everything, up to a broken directive behind which nothing runs."""
        curls = {curl.start: curl for curl in self._layout.curls}
        openers = (match.start() for match in OPENER.finditer(self._text))
        for place in merge(openers, sorted(curls)) if curls else openers:
            if place < self._pos:
                continue
            if place in curls:
                self._curl(curls[place])
            else:
                self._opener(place)
            if self._ledger.dead:
                return

    def _curl(self, curl: Curl) -> None:
        self._pos = curl.end
        reason = self._sweep.reason(curl.start)
        if self._sweep.left_by_code(curl.start, curl.end):
            reason = SkipReason.CODE_SPAN
        span = self._passage.span(curl.start, curl.end)
        if reason:
            self._ledger.skip(reason, span)
        else:
            self._ledger.run_one(Directive(Form.F6, curl.call.op, curl.call.args, span, curl.call.id))

    def _opener(self, start: int) -> None:
        construct = self._construct(start)
        if self._text.startswith("[RESULT", start):
            self._result(construct)
        elif construct.kind is Kind.BROKEN:
            self._broken(construct)
        else:
            self._whole(construct)

    # ---- why an opener does not run ----------------------------------------------------------------

    def _inert(self, start: int, end: int, *, closed: bool = True) -> SkipReason | None:
        """GRAMMAR 2.5 to 2.8 for a directive from `start` to `end`; without its `]` nothing can leave it."""
        reason = self._sweep.reason(start)
        before = self._text[start - 1 : start] if start else ""
        after = self._text[end : end + 1] if closed else ""
        if "`" in before + after or (closed and self._sweep.left_by_code(start, end)):
            return reason or SkipReason.CODE_SPAN
        return reason or (SkipReason.QUOTED if before == after == "'" else None)

    def _pass(self, construct: Construct, reason: SkipReason, end: int) -> None:
        """GRAMMAR 1: what is inside an opener that does not run does not run either."""
        start = construct.start
        self._sweep.reason(start)
        self._pos = max(
            end, self._passed_end(construct, self._sweep.bound(start, self._ahead.line(start)[1]))
        )
        self._ledger.skip(reason, self._passage.span(start, self._pos))

    def _passed_end(self, construct: Construct, bound: int) -> int:
        brace = construct.brace if construct.brace >= 0 else self._ahead.brace(construct.start + 1, bound)
        if brace < 0:
            opener = OPENER.match(self._text, construct.start)
            assert opener is not None
            return opener.end()
        end = balanced_end(self._text, brace)
        return len(self._text) if end is None else end

    # ---- what an opener can begin ------------------------------------------------------------------

    def _whole(self, construct: Construct) -> None:
        """A directive that is complete, or no directive at all."""
        start, end = construct.start, construct.end
        reason = self._no_directive(construct) or self._inert(start, end)
        if reason:
            self._pass(construct, reason, end)
        elif self._passage.written_bytes(start, end) > self._ledger.policy.max_directive_bytes:
            self._resume(
                construct, balanced_end(self._text, construct.brace) if construct.brace >= 0 else None
            )
        else:
            self._run(construct)

    def _no_directive(self, construct: Construct) -> SkipReason | None:
        if construct.end > 0 and self._is_link(construct.start, construct.end):
            return SkipReason.LINK
        reason = marked(self._text, construct.start)
        if reason or construct.kind is Kind.CALL:
            return reason
        return SkipReason.NO_CALL if construct.kind is Kind.NO_CALL else SkipReason.PROSE

    def _run(self, construct: Construct) -> None:
        self._pos = construct.end
        self._ledger.run_one(_directive(construct, self._passage.span(construct.start, construct.end)))

    def _broken(self, construct: Construct) -> None:
        end = balanced_end(self._text, construct.brace)
        close = _BROKEN_END.match(self._text, end) if end else None
        behind = close.end() if close else end or len(self._text)
        link = SkipReason.LINK if close and self._is_link(construct.start, behind) else None
        inert = self._inert(construct.start, behind, closed=close is not None)
        reason = marked(self._text, construct.start) or link or inert
        if reason:
            self._pass(construct, reason, 0)
        else:
            self._resume(construct, end)

    def _is_link(self, start: int, behind: int) -> bool:
        """Does something follow the `]` that makes the brackets a Markdown link (GRAMMAR 1)?

        A directive that follows decides it by what follows itself, so a chain of them is one answer.
        """
        chain = [start]
        while start not in self._links and self._opens_directive(behind):
            start = behind
            chain.append(start)
            behind = self._behind(start)
        link = self._links.get(start, self._text[behind : behind + 1] in {"(", "["})
        self._links.update(dict.fromkeys(chain, link))
        return link

    def _opens_directive(self, place: int) -> bool:
        return OPENER.match(self._text, place) is not None and self._construct(place).is_directive

    def _behind(self, start: int) -> int:
        """Behind the `]` of a directive; at the end of the text if a broken one has none."""
        construct = self._construct(start)
        if construct.kind is not Kind.BROKEN:
            return construct.end
        behind = closed_end(self._text, construct.brace)
        return behind if behind > 0 else len(self._text)

    def _construct(self, start: int) -> Construct:
        """What the opener begins; in code or in a tag `layout` has not read it."""
        if start not in self._layout.constructs:
            self._layout.constructs[start] = read_construct(self._text, start, self._ledger.policy)
        return self._layout.constructs[start]

    def _resume(self, construct: Construct, end: int | None) -> None:
        """GRAMMAR 4: behind a live broken directive the scan goes on if its `}` and `]` end their line."""
        behind = len(self._text) if end is None else end
        self._ledger.skip(SkipReason.BROKEN, self._passage.span(construct.start, behind))
        line_end = _ENDS_LINE.match(self._text, behind)
        if line_end and (line_end[0].endswith("\n") or self._passage.ends_line):
            self._pos = line_end.end()
            return
        self._ledger.dead = True
        if OPENER.search(self._text, behind):
            self._ledger.skip(SkipReason.DEAD, self._passage.span(behind, len(self._text)))

    def _result(self, construct: Construct) -> None:
        """GRAMMAR 8; of `[RESULT` only `[RESULT {` is an opener that is passed over (GRAMMAR 1)."""
        start = construct.start
        first, end = self._ahead.line(start)
        if first != self._judged:  # only the first one of a line can be where a verdict has it
            self._judged = first
            self._judge(start, first, end)
        self._pos = start + 1
        if construct.brace >= 0:
            passed = balanced_end(self._text, construct.brace)
            self._pos = len(self._text) if passed is None else passed

    def _judge(self, start: int, first: int, end: int) -> None:
        if self._sweep.reason(start) or self._sweep.left_by_code(start, end):
            return
        judged = read_verdict(self._text[first:end], self._ledger.policy)
        if judged and first + judged.start == start:
            span = self._passage.span(start, first + len(self._text[first:end].rstrip(" \t")))
            self._ledger.judge(Verdict(judged.word, judged.summary, judged.artifacts, span))
