"""The oracle: what a whole reply asks for, read slowly and plainly from GRAMMAR sections 1 to 8.

`expected(text)` is independent of the scanner in every line; the tests compare the two.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.oracle import curl, directives, fences, names, shapes, strict, verdicts
from tests.oracle.blocks import Blocks
from tests.oracle.calls import Call
from tests.oracle.inside import Inside
from tests.oracle.leaves import FENCE, INLINE, PARAGRAPH, Leaf

LONGEST_BYTES = 1 << 20
MOST_CALLS = 16


@dataclass(frozen=True)
class Seen:
    """One call as the text has it, before GRAMMAR 5; `at` is where it begins in the reply."""

    at: int
    form: str
    op: str
    args: dict[str, Any]


@dataclass(frozen=True)
class Expected:
    """What the reply asks for; `calls` before names are normalised, `normal` after."""

    seen: tuple[Seen, ...]
    verdict: str | None

    @property
    def calls(self) -> list[Call]:
        return [(call.op, call.args) for call in self.seen]

    @property
    def normal(self) -> list[Call]:
        return [names.normal(call.op, call.args) for call in self.seen]


def expected(text: str, *, whole: bool = True, reasoning_open: bool = False) -> Expected:
    """Read a reply; `whole=False` reads as `Scanner` does, without the check for an orphan closing tag.

    `reasoning_open=True`: the opening tag stood in the prompt, so the first closing tag of any name ends it.
    """
    text = (
        text.encode("utf-8", "surrogatepass")[:LONGEST_BYTES].decode("utf-8", "ignore")
        if _long(text)
        else text
    )
    start = 1 if text.startswith("\ufeff") else 0
    reading = _Reading(text)
    if whole:
        start = _behind_orphan(text, start)
    segment: int | None = start
    if reasoning_open:
        closing = shapes.REASONING_CLOSE.search(text, start)
        segment = _skip_blanks(text, closing.end()) if closing else None
    while segment is not None:
        segment = reading.segment(segment)
    return Expected(tuple(_limited(reading.groups)), reading.verdict)


def _long(text: str) -> bool:
    return len(text.encode("utf-8", "surrogatepass")) > LONGEST_BYTES


def _limited(groups: list[list[Seen]]) -> Iterator[Seen]:
    """GRAMMAR 5.4: after the call or block that would pass the limit nothing more runs."""
    count = 0
    for group in groups:
        count += len(group)
        if count > MOST_CALLS:
            return
        yield from group


def _behind_orphan(text: str, start: int) -> int:
    """Where the answer begins behind the last orphan closing tag, else `start` (GRAMMAR 2)."""
    blocks = Blocks(text, start)
    ends = {tag.start(): tag.end() for tag in blocks.closing_tags}
    limit = blocks.stop.start() if blocks.stop else len(text)
    for leaf in blocks.leaves:
        for at, tag in _tags(leaf):
            if not tag.group().startswith("</"):
                limit = min(limit, at)
            ends[at] = at + len(tag.group())
    orphans = [end for at, end in ends.items() if at < limit and text.startswith("</", at)]
    return _skip_blanks(text, max(orphans)) if orphans else start


def _tags(leaf: Leaf) -> Iterator[tuple[int, re.Match[str]]]:
    """The reasoning tags that count in a leaf, with where they stand in the reply."""
    if leaf.kind not in INLINE or leaf.inert:
        return
    inside = Inside(leaf.text, leaf.kind == PARAGRAPH)
    for tag in inside.reasoning:
        if inside.counts(tag):
            yield leaf.offsets[tag.start()], tag


def _skip_blanks(text: str, at: int) -> int:
    while text[at : at + 1] in (" ", "\t"):
        at += 1
    return at


@dataclass
class _Reading:
    """The state that outlives a stretch of reasoning: calls, verdict, and whether text is dead."""

    text: str
    groups: list[list[Seen]] = field(default_factory=list)
    verdict: str | None = None
    dead_since: int | None = None

    def segment(self, start: int) -> int | None:
        """Read up to the next reasoning; return where the text behind it goes on, None at the end."""
        blocks = Blocks(self.text, start)
        for leaf in blocks.leaves:
            self._revive(blocks, leaf.at)
            cut = self._leaf(leaf)
            if cut is not None:
                return self._behind(blocks, *cut)
        if blocks.stop is None:
            return None
        return self._behind(blocks, blocks.stop.start(), blocks.stop)

    def _revive(self, blocks: Blocks, at: int) -> None:
        """GRAMMAR 4: dead text ends with the next blank line outside fenced code and reasoning."""
        if self.dead_since is not None and any(self.dead_since < blank <= at for blank in blocks.blank_lines):
            self.dead_since = None

    def _behind(self, blocks: Blocks, at: int, tag: re.Match[str]) -> int | None:
        self._revive(blocks, at)
        closing = re.compile(rf"</{tag.group(1)}[ \t]*>", re.IGNORECASE)
        found = closing.search(self.text, at + len(tag.group()))
        return _skip_blanks(self.text, found.end()) if found else None

    def _leaf(self, leaf: Leaf) -> tuple[int, re.Match[str]] | None:
        """Read one leaf; the reasoning tag that opens in it, if one does."""
        if leaf.inert:
            return None
        if leaf.kind == FENCE:
            self._fence(leaf)
        if leaf.kind not in INLINE:
            return None
        tag = next(((at, tag) for at, tag in _tags(leaf) if not tag.group().startswith("</")), None)
        if self.dead_since is None:
            self._inline(leaf, tag[1].start() if tag else len(leaf.text))
        return tag

    def _fence(self, leaf: Leaf) -> None:
        language = re.split(r"[ \t]", leaf.info)[0].lower()
        if not leaf.closed or self.dead_since is not None:
            return
        found: list[Call] = []
        form = "F5"
        if language in fences.CALL_FENCES:
            found = fences.calls(language, leaf.text)
        elif language in fences.SHELL_FENCES:
            call = curl.in_fence(leaf.text)
            found, form = [call] if call else [], "F6"
        if found:
            self.groups.append([Seen(leaf.at, form, op, args) for op, args in found])

    # ---- the inside of a paragraph, heading or row -----------------------------------------------

    def _inline(self, leaf: Leaf, end: int) -> None:
        """Find what runs in the first `end` characters of a leaf; reasoning was found first."""
        inside = Inside(leaf.text[:end], leaf.kind == PARAGRAPH)
        at = 0
        while at < end and self.dead_since is None:
            if at == 0 or leaf.text[at - 1] == "\n":
                self._verdict(inside, at, end)
            at = self._place(leaf, inside, at, end)

    def _verdict(self, inside: Inside, at: int, end: int) -> None:
        line = inside.text[at:end].partition("\n")[0]
        found = verdicts.read(line)
        if found and not inside.is_inert(at + found[1]) and not inside.crosses(at + len(line)):
            self.verdict = found[0]

    def _place(self, leaf: Leaf, inside: Inside, at: int, end: int) -> int:
        """Read what stands at one place and return where the scan goes on."""
        command = inside.commands.get(at)
        if command and command.call and not inside.is_unit_inert(inside.units[at]):
            return self._run(leaf, at, command.end, "F6", command.call)
        found = directives.read(inside.text[:end], at) if inside.text[at] == "[" else None
        if found is None:
            return at + 1
        if found.call and at in inside.units and not inside.is_unit_inert(inside.units[at]):
            return self._run(leaf, at, found.end, found.form, found.call)
        if found.broken and not self._shielded(inside, at, found):
            if found.resume is not None and self._ends_line(leaf.offsets[found.resume]):
                return found.resume
            self.dead_since = leaf.offsets[at]
            return end
        return _pass_over(inside, at, end)

    def _run(self, leaf: Leaf, at: int, end: int, form: str, call: Call) -> int:
        self.groups.append([Seen(leaf.offsets[at], form, *call)])
        return end

    def _ends_line(self, at: int) -> bool:
        """Do only blanks stand behind this place of the reply, not a reasoning tag or a heading's `#`?"""
        return re.match(r"[ \t]*(?:[\r\n]|\Z)", self.text[at:]) is not None

    def _shielded(self, inside: Inside, at: int, found: directives.Found) -> bool:
        """Is a broken directive inert? Where it has no `]`, only its beginning tells."""
        if not found.closed:
            return inside.is_inert(at) or inside.text[at - 1 : at] == "`"
        return inside.is_inert(at) or inside.touched((at, found.end), found.json)


def _pass_over(inside: Inside, at: int, end: int) -> int:
    """GRAMMAR 1: behind the balanced end of the first `{` of an opener that is no directive, or inert."""
    brace = directives.own_brace(inside.text[:end], at)
    if brace is None:
        found = re.compile(r"[{\]]").search(inside.text, at, min(inside.bounds(at), end))
        if found is None or found.group() == "]":
            return at + 1
        brace = found.start()
    return strict.balanced(inside.text[:end], brace) or end
