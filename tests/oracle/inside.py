"""The inside of a paragraph, heading or table row (GRAMMAR 2): inert places and whole directives.

The text is read left to right as CommonMark reads it: escapes, code spans, tags and autolinks in the order in
which they begin; a complete directive is stepped over, for no tag or mark inside its JSON counts.
"""

from __future__ import annotations

import re
import string
from dataclasses import dataclass, field

from tests.oracle import curl, directives, shapes
from tests.oracle.quotations import MARKS, Place, quotations, strikes

_TICKS = re.compile("`+")
_ESCAPABLE = frozenset(string.punctuation)  # CommonMark 2.4
_TILDES = re.compile("~+")


@dataclass(frozen=True)
class Unit:
    """A complete directive in the text: where it stands, and its JSON (or body) in it."""

    place: Place
    inner: Place


@dataclass
class Inside:
    """What the inside of one leaf holds; all offsets are into `text`."""

    text: str
    prose: bool  # a paragraph: the only place for curl lines
    spans: list[Place] = field(default_factory=list)
    tags: list[Place] = field(default_factory=list)
    elements: list[Place] = field(default_factory=list)
    quoted: list[Place] = field(default_factory=list)
    struck: list[Place] = field(default_factory=list)
    dead_curls: list[Place] = field(default_factory=list)
    units: dict[int, Unit] = field(default_factory=dict)
    commands: dict[int, curl.Command] = field(default_factory=dict)
    reasoning: list[re.Match[str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._marks: list[int] = []
        self._runs: list[int] = []
        self._opened: list[tuple[str, int]] = []
        at = 0
        while at < len(self.text):
            at = self._step(at)
        self.elements += [(start, len(self.text)) for _, start in self._opened]
        self.quoted = quotations(self.text, self._counted(self._marks))
        self.struck = strikes(self.text, self._counted(self._runs))

    # ---- what is inert ---------------------------------------------------------------------------

    def is_inert(self, at: int) -> bool:
        """Does one character stand in an inert place?"""
        places = self.spans + self.tags + self.elements + self.quoted + self.struck + self.dead_curls
        return any(start <= at < end for start, end in places)

    def is_unit_inert(self, unit: Unit) -> bool:
        """GRAMMAR 2.5 to 2.8 for a whole directive; a code span wholly inside its JSON means nothing."""
        start, end = unit.place
        places = self.tags + self.elements + self.quoted + self.struck + self.dead_curls
        return any(s < end and start < e for s, e in places) or self.touched(unit.place, unit.inner)

    def touched(self, place: Place, inner: Place) -> bool:
        """Does a code span cut or enclose this directive, or stand a tick or apostrophes beside it?"""
        start, end = place
        around = self.text[start - 1 : start], self.text[end : end + 1]
        spans = [span for span in self.spans if not _within(span, inner)]
        return any(s < end and start < e for s, e in spans) or "`" in around or around == ("'", "'")

    def crosses(self, end: int) -> bool:
        """Does a code span reach over `end`?"""
        return any(s < end < e for s, e in self.spans)

    def bounds(self, at: int) -> int:
        """The end of the code span, tag, quotation or line that `at` stands in, whichever comes first."""
        places = self.spans + self.tags + self.elements + self.quoted
        line = self.text.find("\n", at)
        return min(
            [line if line >= 0 else len(self.text)] + [end for start, end in places if start <= at < end]
        )

    def counts(self, tag: re.Match[str]) -> bool:
        """GRAMMAR 2: a tag counts where a directive would be live, except between straight quotes."""
        around = self.text[tag.start() - 1 : tag.start()], self.text[tag.end() : tag.end() + 1]
        places = self.spans + self.elements + self.quoted + self.struck + self.dead_curls
        inert = any(start <= tag.start() < end for start, end in places)
        return not (inert or around in (("'", "'"), ('"', '"')))

    def _counted(self, marks: list[int]) -> list[int]:
        return [at for at in marks if not any(start <= at < end for start, end in self.elements)]

    # ---- one step of the reading -----------------------------------------------------------------

    def _step(self, at: int) -> int:
        """Read what begins at `at` and return where it ends."""
        if self.prose and self.text[at - 1 : at] in ("", "\n") and at not in self.commands:
            command = curl.in_text(self.text, at)
            if command is not None:
                return self._curl(at, command)
        char = self.text[at]
        if char == "\\":
            return at + 1 + (self.text[at + 1 : at + 2] in _ESCAPABLE)
        if char in MARKS:
            self._marks.append(at)
        steps = {"`": self._ticks, "~": self._tildes, "<": self._tag, "[": self._bracket}
        return steps[char](at) if char in steps else at + 1

    def _curl(self, at: int, command: curl.Command) -> int:
        self.commands[at] = command
        if command.call is None:
            self.dead_curls.append((at, command.end))
            return at
        return self._unit(Unit((at, command.end), (at, command.end)))

    def _bracket(self, at: int) -> int:
        found = directives.read(self.text, at)
        if found is None or found.call is None:
            return at + 1
        return self._unit(Unit((at, found.end), found.json))

    def _unit(self, unit: Unit) -> int:
        """Step over a directive, or to the end of a code span that leaves it in the middle."""
        start, end = unit.place
        self.units[start] = unit
        at = start
        while (run := _TICKS.search(self.text, at, end)) is not None:
            at = self._ticks(run.start())
            if at > end:
                return at
        return end

    def _ticks(self, at: int) -> int:
        """A code span, or the literal run behind which the reading goes on."""
        run = _TICKS.match(self.text, at)
        assert run is not None
        for closing in _TICKS.finditer(self.text, run.end()):
            if len(closing.group()) == len(run.group()):
                self.spans.append((at, closing.end()))
                return closing.end()
        return run.end()

    def _tildes(self, at: int) -> int:
        run = _TILDES.match(self.text, at)
        assert run is not None
        if len(run.group()) == 2:
            self._runs.append(at)
        return run.end()

    def _tag(self, at: int) -> int:
        found = shapes.INLINE_HTML.match(self.text, at) or shapes.AUTOLINK.match(self.text, at)
        if found is None:
            if not self.text.startswith("<!--", at):
                return at + 1
            self.tags.append((at, len(self.text)))
            return len(self.text)
        self._reasoning(at)
        self.tags.append(found.span())
        self._element(found.group(), found.start(), found.end())
        return found.end()

    def _reasoning(self, at: int) -> None:
        for pattern in (shapes.REASONING_OPEN, shapes.REASONING_CLOSE):
            tag = shapes.reasoning_tag(pattern, self.text, at)
            if tag is not None:
                self.reasoning.append(tag)

    def _element(self, tag: str, start: int, end: int) -> None:
        """Open or close one of the elements whose content is inert (GRAMMAR 2.6)."""
        name = shapes.TAG_NAME.match(tag)
        if name is None or name.group(2).lower() not in shapes.INERT_ELEMENTS or ":" in tag[: name.end() + 1]:
            return
        if not name.group(1):
            self._opened.append((name.group(2).lower(), end))
            return
        for opened in reversed(self._opened):
            if opened[0] == name.group(2).lower():
                self._opened.remove(opened)
                self.elements.append((opened[1], start))
                return


def _within(place: Place, outer: Place) -> bool:
    return outer[0] <= place[0] and place[1] <= outer[1]
