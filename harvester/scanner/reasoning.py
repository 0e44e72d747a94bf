"""Which reasoning tags count in the middle of a paragraph, heading or table row (GRAMMAR 2)."""

from __future__ import annotations

from typing import Final

from harvester.scanner.ledger import Ledger
from harvester.scanner.passage import Passage
from harvester.scanner.stretches import LOST, Layout, Tag
from harvester.scanner.sweep import Sweep

_STRAIGHT: Final = frozenset("'\"")


def _quoted(text: str, tag: Tag) -> bool:
    """Does it stand directly between straight quotes?"""
    before = text[tag.start - 1 : tag.start] if tag.start else ""
    return before in _STRAIGHT and text.startswith(before, tag.end)


def counting_tag(passage: Passage, layout: Layout, ledger: Ledger) -> Tag | None:
    """The first opening tag that counts; closing tags before it that would count are noted.

    Reasoning is found first: whether an opener or a broken directive stands before a tag does not matter.
    """
    if not layout.tags:
        return None
    sweep = Sweep(layout)
    for tag in layout.tags:
        if tag.name == LOST:
            ledger.lost = True
            return tag
        if _quoted(passage.text, tag) or sweep.reason(tag.start):
            continue
        if tag.name is not None:
            return tag
        ledger.orphan(passage.span(tag.start, tag.end)[1])
    return None
