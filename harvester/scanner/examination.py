"""The inside of a paragraph, heading or table row: a tag that takes over, what runs before it."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from harvester.events import SkipReason
from harvester.scanner.inside import Inside, run_alone, worth_reading
from harvester.scanner.layout import Reader
from harvester.scanner.leaves import Piece, is_plain
from harvester.scanner.ledger import Ledger
from harvester.scanner.lines import Line
from harvester.scanner.openers import OPENER, Kind, balanced_end, marked, read_construct
from harvester.scanner.passage import Passage, utf8_bytes
from harvester.scanner.reasoning import counting_tag
from harvester.scanner.stretches import Layout, Tag
from harvester.scanner.tags import REASONING, REASONING_END


class Cut(NamedTuple):
    """A reasoning tag takes over at `start`; `lines` are what has been read from behind it on.

    `inline`: it stood in the middle of a line, so that those were read to the end of their paragraph.
    """

    start: int
    name: str
    lines: list[Line]
    inline: bool = True

    @classmethod
    def at(cls, line: Line, start: int, tag: re.Match[str]) -> Cut:
        """A tag that counts whatever stands behind it."""
        return cls(line.start + start, tag["name"].lower(), [line._replace(begin=tag.end())], inline=False)

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
    if inert and inert is not SkipReason.DEAD:
        _hide_all(pieces, ledger, inert)
        return None
    passage = Passage([(line.text[first:last], line.start + first) for line, first, last in pieces])
    if not worth_reading(passage.text):
        return None
    line, _, last = pieces[-1]
    passage.ends_line = not line.text[last:].strip(" \t")  # a closing run of `#` stands in it
    if utf8_bytes(passage.text) > ledger.policy.max_paragraph_bytes:
        _hide(passage, ledger, SkipReason.TOO_LONG)
        return None
    if inert is None and (run_alone(passage, ledger) or _dies_at_once(passage, ledger)):
        return None
    layout = Reader(passage.text, ledger.policy, curl=curl).read()
    tag = counting_tag(passage, layout, ledger)
    if tag is None:
        _report(passage, layout, ledger, inert)
        return None
    before = passage.before(tag.start)  # the paragraph ends there
    _report(before, Reader(before.text, ledger.policy, curl=curl).read(), ledger, inert)
    return _cut(passage, pieces, tag)


# A shorter text is read as soon as it is known that the shorter way is none.
_LONG_CHARS: Final = 1 << 11


def _dies_at_once(passage: Passage, ledger: Ledger) -> bool:
    """GRAMMAR 4: what is behind a live broken directive without an end is dead, whatever it is.

    Nothing in it has to be read then, but where reasoning tags stand, which count all the same.
    """
    text = passage.text
    opener = OPENER.search(text) if len(text) > _LONG_CHARS else None
    if opener is None or not is_plain(text, 0, opener.start()) or marked(text, opener.start()):
        return False
    construct = read_construct(text, opener.start(), ledger.policy)
    if construct.kind is not Kind.BROKEN or balanced_end(text, construct.brace) is not None:
        return False
    if REASONING.search(text, construct.brace) or REASONING_END.search(text, construct.brace):
        return False
    ledger.skip(SkipReason.BROKEN, passage.span(construct.start, len(text)))
    ledger.dead = True
    return True


def _report(passage: Passage, layout: Layout, ledger: Ledger, inert: SkipReason | None) -> None:
    if inert:
        _hide(passage, ledger, inert)
    else:
        Inside(passage, layout, ledger).read()


def _hide_all(pieces: list[Piece], ledger: Ledger, reason: SkipReason) -> None:
    """Nothing runs in the block that they are in."""
    texts = [line.text[first:last] for line, first, last in pieces]
    if any("[" in text and OPENER.search(text) for text in texts):
        size = sum(map(utf8_bytes, texts)) + len(texts) - 1
        too_long = size > ledger.policy.max_paragraph_bytes
        (first, start, _), (last, _, end) = pieces[0], pieces[-1]
        ledger.skip(SkipReason.TOO_LONG if too_long else reason, (first.start + start, last.start + end))


def _hide(passage: Passage, ledger: Ledger, reason: SkipReason) -> None:
    if OPENER.search(passage.text):
        ledger.skip(reason, passage.span(0, len(passage.text)))
