"""The inside of a paragraph, heading or table row: a tag that takes over, what runs before it."""

from __future__ import annotations

from typing import NamedTuple

from harvester.events import SkipReason
from harvester.scanner.inside import Inside, run_alone, worth_reading
from harvester.scanner.layout import Reader
from harvester.scanner.leaves import Piece
from harvester.scanner.ledger import Ledger
from harvester.scanner.lines import Line
from harvester.scanner.openers import OPENER
from harvester.scanner.passage import Passage, utf8_bytes
from harvester.scanner.reasoning import counting_tag
from harvester.scanner.stretches import Layout, Tag


class Cut(NamedTuple):
    """A reasoning tag takes over at `start`; `lines` are what has been read from behind it on.

    `inline`: it stood in the middle of a line, so that those were read to the end of their paragraph.
    """

    start: int
    name: str
    lines: list[Line]
    inline: bool = True

    def then(self, line: Line) -> Cut:
        """With one more line to be read again."""
        return self._replace(lines=[*self.lines, line])


def _cut(passage: Passage, pieces: list[Piece], tag: Tag) -> Cut:
    start, end = passage.span(tag.start, tag.end)
    place = next(number for number, piece in enumerate(pieces) if end <= piece.line.start + piece.last)
    line = pieces[place].line
    behind = line._replace(begin=end - line.start)
    return Cut(
        start, tag.name or "", [behind, *(line for piece in pieces[place + 1 :] for line in piece.lines())]
    )


def examine(
    pieces: list[Piece], ledger: Ledger, inert: SkipReason | None, *, curl: bool = False
) -> Cut | None:
    """Report what stands there; the tag that takes over, if one does. `inert` says why nothing there runs.

    In dead text (GRAMMAR 4) reasoning tags count all the same.
    """
    passage = Passage([(line.text[first:last], line.start + first) for line, first, last in pieces])
    if not worth_reading(passage.text):
        return None
    line, _, last = pieces[-1]
    passage.ends_line = not line.text[last:].strip(" \t")  # a closing run of `#` stands in it
    if utf8_bytes(passage.text) > ledger.policy.max_paragraph_bytes:
        inert = SkipReason.TOO_LONG
    if inert and inert is not SkipReason.DEAD:
        _hide(passage, ledger, inert)
        return None
    if inert is None and run_alone(passage, ledger):
        return None
    layout = Reader(passage.text, ledger.policy, curl=curl).read()
    tag = counting_tag(passage, layout, ledger)
    if tag is None:
        _report(passage, layout, ledger, inert)
        return None
    before = passage.before(tag.start)  # the paragraph ends there
    _report(before, Reader(before.text, ledger.policy, curl=curl).read(), ledger, inert)
    return _cut(passage, pieces, tag)


def _report(passage: Passage, layout: Layout, ledger: Ledger, inert: SkipReason | None) -> None:
    if inert:
        _hide(passage, ledger, inert)
    else:
        Inside(passage, layout, ledger).read()


def _hide(passage: Passage, ledger: Ledger, reason: SkipReason) -> None:
    if OPENER.search(passage.text):
        ledger.skip(reason, passage.span(0, len(passage.text)))
