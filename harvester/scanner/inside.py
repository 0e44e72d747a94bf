"""The inside of a paragraph, heading or table row: which of its directives run (GRAMMAR 1, 2, 4 and 8)."""

from __future__ import annotations

import re
from typing import Final

from harvester.events import Directive, Form, SkipReason, Verdict
from harvester.scanner.layout import Curl, Reader, Tag
from harvester.scanner.ledger import Ledger
from harvester.scanner.openers import OPENER, Ahead, Construct, Kind, balanced_end, marked, read_construct
from harvester.scanner.passage import Passage
from harvester.scanner.sweep import Sweep
from harvester.scanner.tags import REASONING, REASONING_END
from harvester.scanner.verdicts import read_verdict

_COMMAND_LINE: Final = re.compile(r"^(?:\$ )?curl ", re.MULTILINE)
_NO_DIRECTIVE: Final = {Kind.PROSE: SkipReason.PROSE, Kind.NO_CALL: SkipReason.NO_CALL}
_BROKEN_END: Final = re.compile(r"[ \t\n]*+\]")
_ENDS_LINE: Final = re.compile(r"[ \t]*+\][ \t]*+(?:\n|\Z)")
_STRAIGHT: Final = frozenset("'\"")


def worth_reading(text: str) -> bool:
    """Can an event come from this text? Most text is not looked at any further."""
    return (
        ("[" in text and OPENER.search(text) is not None)
        or ("<" in text and (REASONING.search(text) or REASONING_END.search(text)) is not None)
        or ("curl " in text and _COMMAND_LINE.search(text) is not None)
    )


class Inside:
    """Goes through the openers, commands and reasoning tags of a text, in order.

    `cut` is the opening reasoning tag that ends the text, if one does.
    """

    def __init__(self, passage: Passage, ledger: Ledger, *, curl: bool) -> None:
        self.cut: Tag | None = None
        self._passage = passage
        self._text = passage.text
        self._ledger = ledger
        self._layout = Reader(passage.text, ledger.policy, curl=curl).read()
        self._sweep = Sweep(self._layout)
        self._ahead = Ahead(passage.text)
        self._pos = 0
        self._judged = -1

    def read(self) -> None:
        """Report everything; stops at a reasoning tag and behind a broken directive."""
        openers = (match.start() for match in OPENER.finditer(self._text))
        items: list[tuple[int, Tag | Curl | None]] = [(place, None) for place in openers]
        items += [(tag.start, tag) for tag in self._layout.tags]
        items += [(curl.start, curl) for curl in self._layout.curls]
        items.sort(key=lambda item: item[0])
        for place, item in items:
            if place < self._pos:
                continue
            self._take(place, item)
            if self.cut or self._ledger.dead:
                return

    def _take(self, place: int, item: Tag | Curl | None) -> None:
        match item:
            case Tag():
                self._tag(item)
            case Curl():
                self._curl(item)
            case None:
                self._opener(place)

    def _tag(self, tag: Tag) -> None:
        """GRAMMAR 2: it counts where a directive would be live, except directly between straight quotes."""
        around = self._text[tag.start - 1 : tag.start] if tag.start else "", self._text[tag.end : tag.end + 1]
        quoted = around[0] in _STRAIGHT and around[0] == around[1]
        if quoted or self._sweep.reason(tag.start):
            return
        if tag.name is None:
            self._ledger.orphan(self._passage.span(tag.start, tag.end)[1])
        else:
            self.cut = tag

    def _curl(self, curl: Curl) -> None:
        self._pos = curl.end
        reason = self._sweep.reason(curl.start)
        if self._sweep.left_by_code(curl.start, curl.end):
            reason = SkipReason.CODE_SPAN
        span = self._passage.span(curl.start, curl.end)
        if reason:
            self._ledger.skip(reason, span)
        else:
            self._ledger.run([Directive(Form.F6, curl.call.op, curl.call.args, span, curl.call.id)], span)

    def _opener(self, start: int) -> None:
        construct = self._layout.constructs.get(start)
        if construct is None:  # in code or in a tag: inert, whatever it begins
            construct = read_construct(self._text, start, self._ledger.policy)
        if self._text.startswith("[RESULT", start):
            self._result(construct)
        elif construct.kind is Kind.BROKEN:
            self._broken(construct)
        else:
            self._whole(construct)

    # ---- why an opener does not run ----------------------------------------------------------------

    def _inert(self, start: int, end: int) -> SkipReason | None:
        """GRAMMAR 2.5 to 2.8 for a directive from `start` to before `end`."""
        reason = self._sweep.reason(start)
        before, after = self._text[start - 1 : start] if start else "", self._text[end : end + 1]
        if "`" in before + after or self._sweep.left_by_code(start, end):
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
            return construct.start + 1
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
        if construct.start in self._layout.links:
            return SkipReason.LINK
        return marked(self._text, construct.start) or _NO_DIRECTIVE.get(construct.kind)

    def _run(self, construct: Construct) -> None:
        call, span = construct.call, self._passage.span(construct.start, construct.end)
        assert call is not None
        self._pos = construct.end
        self._ledger.run([Directive(construct.form, call.op, call.args, span, call.id)], span)

    def _broken(self, construct: Construct) -> None:
        end = balanced_end(self._text, construct.brace)
        close = _BROKEN_END.match(self._text, end) if end else None
        behind = close.end() if close else end or len(self._text)
        link = SkipReason.LINK if close and self._is_link(behind) else None
        reason = marked(self._text, construct.start) or link or self._inert(construct.start, behind)
        if reason:
            self._pass(construct, reason, 0)
        else:
            self._resume(construct, end)

    def _is_link(self, behind: int) -> bool:
        """Does something follow the `]` that makes the brackets a Markdown link?"""
        if not self._text.startswith("[", behind):
            return self._text.startswith("(", behind)
        if behind in self._layout.links or OPENER.match(self._text, behind) is None:
            return True
        follower = read_construct(self._text, behind, self._ledger.policy)
        return follower.kind not in {Kind.CALL, Kind.BROKEN}

    def _resume(self, construct: Construct, end: int | None) -> None:
        """GRAMMAR 4: behind a live broken directive the scan goes on if its `}` and `]` end their line."""
        behind = len(self._text) if end is None else end
        self._ledger.skip(SkipReason.BROKEN, self._passage.span(construct.start, behind))
        line_end = _ENDS_LINE.match(self._text, behind)
        if line_end:
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
