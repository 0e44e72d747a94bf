"""Bytes of a page in, blocks of text out. Nothing that a page holds is run, fetched or believed."""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Final

from messaging.guarded_fetch import Page

from .classify import Kind

_SILENT: Final = frozenset({"script", "style", "template", "noscript", "svg", "nav", "head"})
# Tags that begin a block, and what stands before its text.
_BLOCKS: Final = {f"h{level}": "#" * level + " " for level in range(1, 7)} | {
    "li": "- ",
    **dict.fromkeys(
        "p div section article header footer main table tr blockquote pre ul ol dl dt dd".split(), ""
    ),
}
_CHARSET: Final = re.compile(rb"<meta[^>]{0,200}charset=[\"']?([\w-]{1,40})", re.IGNORECASE)
# HTML 13.2.3.2: a page names its encoding within so many bytes.
_PRESCAN_BYTES: Final = 1024
# More is no article; the rest would not be read.
_MOST_BLOCKS: Final = 20_000


class NotReadable(Exception):
    """There is no text in it that this tool could take out."""


@dataclass(frozen=True, slots=True)
class Block:
    """One paragraph, heading or list entry; `prefix` is what Markdown puts before it."""

    prefix: str
    text: str


@dataclass(frozen=True, slots=True)
class Extracted:
    """What a page says. `content_type` is what its bytes were taken for."""

    title: str
    blocks: tuple[Block, ...]
    content_type: str
    warnings: tuple[str, ...] = ()


def extract(page: Page, kind: Kind) -> Extracted:
    """The text of the page; raises `NotReadable`."""
    essence, _, parameters = page.content_type.partition(";")
    essence = essence.strip().lower() or ("text/plain" if kind is Kind.TEXT else "text/html")
    if kind is Kind.MEDIA or essence not in ("text/html", "text/plain", "application/xhtml+xml"):
        raise NotReadable(f"this is {essence[:60]}, no page of text")
    text, warnings = _decoded(page.content, parameters)
    if essence == "text/plain":
        blocks = tuple(Block("", part.strip()) for part in re.split(r"\n\s*\n", text) if part.strip())
        return Extracted("", blocks, essence, tuple(warnings))
    reader = _Reader()
    reader.feed(text)
    reader.close()
    title = reader.title()
    warnings += [] if title else ["The page has no title."]
    warnings += ["The page is long; its end was left out."] if reader.full else []
    return Extracted(title, tuple(reader.blocks), "text/html", tuple(warnings))


def _decoded(content: bytes, parameters: str) -> tuple[str, list[str]]:
    """The text, and a warning where it had to be guessed."""
    named = re.search(r"charset=\"?([\w-]{1,40})", parameters, re.IGNORECASE)
    within = _CHARSET.search(content[:_PRESCAN_BYTES])
    charset = named[1] if named else within[1].decode() if within else ""
    try:
        codecs.lookup(charset)
    except LookupError:
        return content.decode("utf-8", "replace"), [
            "The page names no encoding that is known; UTF-8 was tried."
        ]
    return content.decode(charset, "replace"), []


@dataclass(slots=True)
class _Open:
    """The block that text goes into now."""

    prefix: str = ""
    pieces: list[str] = field(default_factory=list)


class _Reader(HTMLParser):
    """Collects blocks. Tags that are missing, doubled or crossed only move where a block ends."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.blocks: list[Block] = []
        self._open = _Open()
        self._silent = ""  # the outermost element whose text is none, and how deep we are in its like
        self._depth = 0
        self._title: list[str] = []
        self._in_title = False

    @property
    def full(self) -> bool:
        return len(self.blocks) >= _MOST_BLOCKS

    def title(self) -> str:
        """The page's own, else its first heading."""
        heading = next((block.text for block in self.blocks if block.prefix.startswith("#")), "")
        return _one_line(self._title) or heading

    def close(self) -> None:
        super().close()
        self._end()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self._in_title = tag == "title"
        if tag == "body":
            self._silent, self._depth = "", 0  # a head that was not closed ends here
        elif tag in _SILENT:
            self._silent = self._silent or tag
            self._depth += tag == self._silent
        elif tag in _BLOCKS:
            self._end()
            self._open = _Open(_BLOCKS[tag])

    def handle_endtag(self, tag: str) -> None:
        self._in_title = False
        if self._silent:
            self._depth -= tag == self._silent
            self._silent = self._silent if self._depth else ""
        elif tag in _BLOCKS:
            self._end()

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self._title.append(data)
        elif not self._silent:
            self._open.pieces.append(data)

    def _end(self) -> None:
        text = _one_line(self._open.pieces)
        if text and not self.full:
            self.blocks.append(Block(self._open.prefix, text))
        self._open = _Open()


def _one_line(pieces: list[str]) -> str:
    return " ".join("".join(pieces).split())
