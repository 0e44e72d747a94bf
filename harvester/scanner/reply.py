"""The lines of a reply: reasoning, in which nothing has structure, and the blocks around it (GRAMMAR 2)."""

from __future__ import annotations

import re
from collections import deque
from typing import Final

from harvester.events import SkipReason
from harvester.scanner.blocks import Blocks
from harvester.scanner.examination import Cut
from harvester.scanner.foresight import Outlook
from harvester.scanner.ledger import Ledger
from harvester.scanner.lines import Line, lines_end
from harvester.scanner.stretches import LOST
from harvester.scanner.tags import closing
from harvester.scanner.watches import Watch, in_reasoning

_BLANKS: Final = re.compile(r"[ \t]*+")
_NEVER: Final = re.compile(r"(?!)")


class Reply:
    """Takes lines and gives each to whom it belongs; lines behind a reasoning tag are read once more."""

    __slots__ = (
        "_blocks", "_closing", "_inline_left", "_ledger", "_queue", "_reason", "_start", "_until",
        "first_tag",
    )  # fmt: skip

    def __init__(self, ledger: Ledger) -> None:
        self.first_tag: int | None = None  # where the first opening tag stands
        self._ledger = ledger
        self._blocks = Blocks(ledger)
        self._queue: deque[Line] = deque()
        self._closing: re.Pattern[str] | None = None
        self._reason = SkipReason.REASONING
        self._start = 0
        self._until: int | None = None
        self._inline_left = ledger.policy.max_inline_tags

    def line(self, line: Line) -> None:
        """The next line."""
        self._take(line)
        if self._queue:
            self._drain()

    @property
    def in_paragraph(self) -> bool:
        """May the beginning of the next line end something in which directives stand?"""
        return self._closing is None and self._blocks.in_paragraph

    @property
    def watch(self) -> Watch | None:
        """What must come for anything to be decided; None if any line may decide something."""
        if self._closing is None:
            return self._blocks.watch
        return in_reasoning if self._until is None else None

    def foresee(self, line: Line) -> bool:
        """End the open paragraph if this beginning of the next line does; could more of the line tell?"""
        outlook = self._blocks.outlook(line) if self.in_paragraph else Outlook.GOES_ON
        cut = None
        if outlook is Outlook.ENDS:
            cut = self._blocks.finish()
        elif outlook is Outlook.UNDERLINED:
            cut = self._blocks.foretell(line)
        if cut:
            self._cut(cut)
            self._drain()
        return outlook in {Outlook.OPEN, Outlook.UNDERLINED}

    def leap(self, text: str, pos: int, at: int) -> int:
        """How far the lines from `pos` on change nothing but what is open; `text` stands at `at`."""
        if self._closing is None:
            return self._blocks.leap(text, pos, at)
        if self._until is not None:
            return pos
        end = self._closing.search(text, pos)
        return lines_end(text, pos, end.start() if end else len(text))

    @property
    def idle(self) -> bool:
        """Does nothing that could make an event go on from line to line?"""
        return self._closing is None and self._blocks.idle

    @property
    def skippable(self) -> bool:
        """Would a blank line and unindented text behind it end every open block?"""
        return self._closing is None and self._blocks.skippable

    @property
    def empty(self) -> bool:
        """Is nothing open, and may what comes run?"""
        return self._closing is None and self._blocks.empty

    def forget(self) -> None:
        """They came, unread: nothing is open any more."""
        self._blocks.clear()

    def finish(self, end: int) -> None:
        """The reply ends at this offset."""
        while self._closing is None and (cut := self._blocks.finish()):
            self._cut(cut)
            self._drain()
        if self._closing:
            self.end_reasoning(end)

    def begin_reasoning(self, start: int, name: str | None, until: int | None = None) -> None:
        """Only the closing tag is looked for from here on, of any name if None; or an end that is known."""
        self._start = start
        self._until = until
        self._closing = _NEVER if name == LOST else closing(name)
        self._blocks.clear()

    def end_reasoning(self, end: int) -> None:
        """The reasoning ends there; structure starts afresh."""
        self._ledger.skip(self._reason, (self._start, end))
        self._closing = self._until = None

    def _drain(self) -> None:
        while self._queue:
            self._take(self._queue.popleft())

    def _take(self, line: Line) -> None:
        if self._closing:
            self._reasoning(line, self._closing)
        elif cut := self._blocks.line(line):
            self._cut(cut)

    def _cut(self, cut: Cut) -> None:
        if self.first_tag is None:
            self.first_tag = cut.start
        self.begin_reasoning(cut.start, cut.name)
        self._queue.extendleft(reversed(cut.lines))
        self._inline_left -= cut.inline
        if self._inline_left < 0:
            self._closing, self._reason = _NEVER, SkipReason.LIMIT_TAGS

    def _reasoning(self, line: Line, closer: re.Pattern[str]) -> None:
        end = self._end(line, closer)
        if end is None:
            return
        self.end_reasoning(line.start + end)
        rest = _BLANKS.match(line.text, end)
        if rest and rest.end() < len(line.text):
            self._queue.appendleft(line._replace(begin=rest.end()))

    def _end(self, line: Line, closer: re.Pattern[str]) -> int | None:
        """Where in the line the reasoning ends, if it does."""
        if self._until is not None:
            end = self._until - line.start
            return end if end <= len(line.text) else None
        match = closer.search(line.text, line.begin)
        return match.end() if match else None
