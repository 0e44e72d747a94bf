"""HTML in the inside of a paragraph: tags, comments, autolinks, and elements that hide what stands in them.

GRAMMAR 2.6; raw HTML is what CommonMark 6.5 and 6.6 make of it.
"""

from __future__ import annotations

import re
from typing import Final

from harvester.events import SkipReason
from harvester.scanner.stretches import Layout, Tag
from harvester.scanner.tags import AUTOLINK, CLOSING_TAG, COMMENT, OPEN_TAG, REASONING, REASONING_END
from patterns import vocabulary

# Other raw HTML of CommonMark 6.6, by its beginning, and its end. An unclosed one is text.
_RAW: Final = (("<![CDATA[", "]]>"), ("<?", "?>"), ("<!", ">"))
_DECLARATION: Final = re.compile(r"<![A-Za-z]|<!\[CDATA\[|<\?")


class Markup:
    """Reads what begins at each `<` of a text and knows which elements are open."""

    def __init__(self, text: str, layout: Layout) -> None:
        self._text = text
        self._layout = layout
        self._elements: dict[str, list[int]] = {}
        self._unclosed: set[str] = set()
        self._last_end = text.rfind(">")

    @property
    def hides(self) -> bool:
        """Is an element open that hides what stands in it?"""
        return bool(self._elements)

    def read(self, start: int) -> int:
        """A tag, a comment, an autolink or other raw HTML; else a literal `<`."""
        text = self._text
        if comment := COMMENT.match(text, start):
            return self._comment(comment)
        if start > self._last_end:  # whatever else begins with `<` ends with `>`
            return start + 1
        if reasoning := REASONING.match(text, start) or REASONING_END.match(text, start):
            name = reasoning.groupdict().get("name")
            self._layout.tags.append(Tag(start, reasoning.end(), name.lower() if name else None))
            return self._layout.hide(start, reasoning.end(), SkipReason.HTML, bounds=True)
        if tag := OPEN_TAG.match(text, start):
            self._open_element(tag)
        elif tag := CLOSING_TAG.match(text, start):
            self._close_element(tag)
        tag = tag or AUTOLINK.match(text, start)
        end = tag.end() if tag else self._other_html(start)
        return self._layout.hide(start, end, SkipReason.HTML, bounds=True) if end else start + 1

    def _comment(self, comment: re.Match[str]) -> int:
        """An unclosed comment goes to the paragraph's end."""
        end = comment.end()
        if not comment[0].endswith(">"):
            found = self._text.find("-->", end)
            end = len(self._text) if found < 0 else found + 3
        return self._layout.hide(comment.start(), end, SkipReason.HTML, bounds=True)

    def _other_html(self, start: int) -> int:
        """The end of a processing instruction, declaration or CDATA section; 0 if there is none."""
        if not _DECLARATION.match(self._text, start):
            return 0
        beginning, ending = next(pair for pair in _RAW if self._text.startswith(pair[0], start))
        if ending in self._unclosed:
            return 0
        found = self._text.find(ending, start + len(beginning))
        if found < 0:
            self._unclosed.add(ending)  # none further on either: not to be searched again
            return 0
        return found + len(ending)

    def _open_element(self, tag: re.Match[str]) -> None:
        """GRAMMAR 2.6: what stands in these elements is inert; elements of one name nest."""
        name = tag[1].lower()
        if name in vocabulary().inert_tags:
            self._elements.setdefault(name, []).append(tag.start())

    def _close_element(self, tag: re.Match[str]) -> None:
        name = tag[1].lower()
        if name not in self._elements:
            return
        start = self._elements[name].pop()
        if not self._elements[name]:
            del self._elements[name]
            self._layout.hide(start, tag.end(), SkipReason.HTML, bounds=True)

    def finish(self) -> None:
        """An element that nothing closes goes to the end."""
        for starts in self._elements.values():
            self._layout.hide(starts[0], len(self._text), SkipReason.HTML)
