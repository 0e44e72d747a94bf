"""The examples of the CommonMark specification, and where each of their words stands in what they render to.

The specification is not ours to ship: `COMMAND` brings it, or COMMONMARK_SPEC says where its `spec.txt` is.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

VERSION, EXAMPLES = "0.31.2", 652
_ROOT = Path(__file__).parents[2]
_FETCHED = _ROOT / ".box" / "node_modules" / "commonmark-spec" / "spec.txt"
COMMAND = f"npm install --prefix .box --no-save commonmark-spec@{VERSION}"

_EXAMPLE = re.compile(r"^`{32} example\n([\s\S]*?)^\.\n([\s\S]*?)^`{32}$|^#{1,6} (.*)$", re.MULTILINE)
_WORD = re.compile(r"[A-Za-z]\w*")
_HTML = re.compile(r"<!--[\s\S]*?-->|<[?!/]?[A-Za-z][^>]*>|<\?[\s\S]*?\?>|<!\[CDATA\[[\s\S]*?\]\]>|[^<]+|<")
_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9-]*)[^>]*?(/?)>")
# What CommonMark puts around text that is no raw HTML.
_PROSE = frozenset({"p", "li", "h1", "h2", "h3", "h4", "h5", "h6"})
_INERT = frozenset({"code", "pre", "blockquote"})
_EMPTY = frozenset({"br", "hr", "img"})


@dataclass(frozen=True, slots=True)
class Example:
    """What is written and what it renders to. `number` counts from 1."""

    number: int
    section: str
    markdown: str
    html: str


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the Markdown. `live`: it is shown as text outside code, block quotes and raw HTML."""

    start: int
    end: int
    live: bool


def specification() -> Path | None:
    """Where it is, None if it is not here."""
    file = Path(os.environ.get("COMMONMARK_SPEC", "") or _FETCHED)
    return file if file.exists() else None


def fetched() -> list[Example]:
    """All examples. A test that asks is skipped where they are not here, and fails where none may be."""
    file = specification()
    if file is not None:
        return examples(file.read_text(encoding="utf-8"))
    reason = f"the examples of CommonMark are not here: {COMMAND}"
    if os.environ.get("BOX_REQUIRE_ALL") == "1":
        pytest.fail(f"{reason} (BOX_REQUIRE_ALL=1 allows no skip)", pytrace=False)
    pytest.skip(reason)


def examples(text: str) -> list[Example]:
    """All examples of the specification's text."""
    found: list[Example] = []
    section = ""
    for match in _EXAMPLE.finditer(text):
        if match[3]:
            section = match[3]
        else:
            markdown, html = (part.replace("→", "\t") for part in match.groups()[:2])
            found.append(Example(len(found) + 1, section, markdown, html))
    return found


def words(example: Example) -> Iterator[Word]:
    """Those that occur in the Markdown as often as in what it renders to: it is known which is which."""
    shown = dict[str, list[bool | None]]()
    for word, live in _shown(example.html):
        shown.setdefault(word, []).append(live)
    written = dict[str, list[re.Match[str]]]()
    for match in _WORD.finditer(example.markdown):
        written.setdefault(match[0], []).append(match)
    for word, places in written.items():
        if len(places) == len(shown.get(word, ())):
            for place, live in zip(places, shown[word], strict=True):
                if live is not None:
                    yield Word(*place.span(), live)


def _shown(html: str) -> Iterator[tuple[str, bool | None]]:
    """Each word of what is rendered, in order, and whether it is live; None in a tag, which shows nothing."""
    within: list[str] = []
    for piece in _HTML.findall(html):
        markup = piece.startswith("<") and piece != "<"
        for word in _WORD.findall(piece):
            yield word, None if markup else _is_live(within)
        tag = _TAG.fullmatch(piece)
        if tag and not tag[3] and tag[2] not in _EMPTY:
            _step(within, tag[2].lower(), closes=bool(tag[1]))


def _step(within: list[str], name: str, *, closes: bool) -> None:
    if not closes:
        within.append(name)
    elif name in within:
        while within.pop() != name:
            pass


def _is_live(within: list[str]) -> bool:
    return bool(_PROSE.intersection(within)) and not _INERT.intersection(within)
