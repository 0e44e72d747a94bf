"""Where in the inside of a paragraph, heading or table row text is inert (GRAMMAR 2.5 to 2.8).

One pass from left to right, as CommonMark reads inlines: what begins first wins, and a complete directive is
one unit. Nothing is decided here about openers; `inside` does that with the result.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cached_property
from typing import Final

from harvester.events import SkipReason
from harvester.policy import ScanPolicy
from harvester.scanner.curl import read_curl
from harvester.scanner.marks import APOSTROPHE, MARKS, Quotations, Strikes
from harvester.scanner.markup import Markup
from harvester.scanner.openers import OPENER, Construct, Kind, closed_end, marked, read_construct
from harvester.scanner.stretches import LOST, Curl, Layout, Tag
from harvester.scanner.tags import REASONING, REASONING_END

# A backslash escapes ASCII punctuation only (CommonMark 2.4); whether a `[` is escaped `marked` says.
_ESCAPABLE: Final = r"[!-/:-@\\-`{-~]"
# Each alternative begins with a literal: so `re` looks for those characters, thirty times as fast.
_TOKENS: Final = (
    rf"\\(?>(?:{_ESCAPABLE}(?>(?:\\{_ESCAPABLE})*))?)",
    "``*+",
    "<",
    r"\[(?=TOOL|EXEC|DM|RESULT)",
    "~~*+",
    *(rf"{mark}{mark}*+" for mark in sorted(MARKS - {APOSTROPHE})),
    APOSTROPHE,
    r"c(?<=(?m:^)c)url ",
    r"\$(?<=(?m:^)\$) curl ",
)
_TOKEN: Final = re.compile("|".join(_TOKENS))
_IN_DIRECTIVE: Final = re.compile(r"\\[\s\S]?|``*+")
# A line goes on behind an odd number of backslashes at its end.
_CURL_LINE: Final = r"[^\\\n]*+(?>(?:\\[^\n][^\\\n]*+)*)"
_CURL_LINES: Final = re.compile(rf"(?>(?:{_CURL_LINE}\\\n)*){_CURL_LINE}\\?")

_RUN: Final = re.compile("`+")

# Where broken directives end is looked for in so many times the text. Those in a row are gone through once,
# and only those that hold one another, or do not end, again and again.
_MOST_READINGS: Final = 16


class Runs:
    """The backtick runs of a text by their length."""

    def __init__(self, text: str) -> None:
        self._places: dict[int, list[int]] = {}
        for match in _RUN.finditer(text):
            self._places.setdefault(match.end() - match.start(), []).append(match.start())

    def after(self, length: int, pos: int) -> int:
        """Where the next run of this length begins, or -1."""
        places = self._places.get(length, [])
        place = bisect_left(places, pos)
        return places[place] if place < len(places) else -1


class Reader:
    """Reads a text once. `curl` is whether a line of it may be a command: in paragraphs only (GRAMMAR 6)."""

    def __init__(self, text: str, policy: ScanPolicy, *, curl: bool) -> None:
        self._text = text
        self._policy = policy
        self._curl = curl
        self._curl_end = 0
        self._chars_left = _MOST_READINGS * len(text)
        self._strikes = Strikes(text)
        self._quotations = Quotations(text)
        self._layout = Layout()
        self._markup = Markup(text, self._layout)

    @cached_property
    def _runs(self) -> Runs:
        return Runs(self._text)

    def read(self) -> Layout:
        """The layout of the text."""
        pos = 0
        while match := _TOKEN.search(self._text, pos):
            pos = self._token(match)
        self._finish()
        return self._layout

    def _token(self, match: re.Match[str]) -> int:
        """Take a token and say where to go on."""
        start, end = match.span()
        match match[0][0]:
            case "\\":
                return end
            case "`":
                return self._code(start, end)
            case "<":
                return self._markup.read(start)
            case "[":
                return self._opener(start)
            case "c" | "$":
                return self._command(start)
            case char:
                if not self._markup.hides:
                    (self._strikes if char == "~" else self._quotations).see(start, end)
                return end

    def _code(self, start: int, end: int) -> int:
        """A backtick run pairs with the next one of its length; else it is literal."""
        partner = self._runs.after(end - start, end)
        if partner < 0:
            return end
        behind = partner + end - start
        self._layout.codes.append((start, behind))
        return self._layout.hide(start, behind, SkipReason.CODE_SPAN, bounds=True)

    def _command(self, start: int) -> int:
        """GRAMMAR 6: a line that starts with `curl `, with its continuations; inert as a whole if no call."""
        if not self._curl or start < self._curl_end:
            return start + 1
        lines = _CURL_LINES.match(self._text, start)
        assert lines is not None
        self._curl_end = lines.end()
        call = read_curl(lines[0], self._policy, documents=False)
        if call is None:
            self._layout.hide(start, lines.end(), SkipReason.CURL)
            return start + 1
        self._layout.curls.append(Curl(start, lines.end(), call))
        return self._through(start, lines.end())

    def _opener(self, start: int) -> int:
        """A complete directive is one unit; of anything else the inside counts as text."""
        if not OPENER.match(self._text, start):
            return start + 1
        if start not in self._layout.constructs:
            self._chain(start)
        if self._chars_left < 0:
            return self._lose(start)
        construct = self._layout.constructs[start]
        unit = (
            construct.kind is Kind.CALL
            and start not in self._layout.links
            and marked(self._text, start) is None
        )
        return self._through(start, construct.end) if unit else start + 1

    def _lose(self, start: int) -> int:
        """It is not known what is a link here, so nothing behind it may run, nor which tags count."""
        if REASONING.search(self._text, start) or REASONING_END.search(self._text, start):
            self._layout.tags.append(Tag(start, start + 1, LOST))
        return self._layout.hide(start, len(self._text), SkipReason.DEAD, bounds=True)

    def _chain(self, start: int) -> None:
        """Directives with nothing between them: whether one is a link depends on the next (GRAMMAR 1)."""
        first = read_construct(self._text, start, self._policy)
        chain = [(first, first.end)]
        while chain[-1][1] > 0 and OPENER.match(self._text, chain[-1][1]):
            construct = read_construct(self._text, chain[-1][1], self._policy)
            chain.append((construct, self._behind(construct)))
        followed = False  # by a `[` that opens a directive
        for construct, behind in reversed(chain):
            self._layout.constructs[construct.start] = construct
            link = behind > 0 and not followed and self._text[behind : behind + 1] in {"(", "["}
            if link:
                self._layout.links.add(construct.start)
            followed = not link and construct.is_directive

    def _behind(self, construct: Construct) -> int:
        """Behind its `]`, -1 if it has none, or it takes too long to tell."""
        if construct.kind is not Kind.BROKEN:
            return construct.end
        if self._chars_left < 0:
            return -1
        end = closed_end(self._text, construct.brace)
        self._chars_left -= (end if end > 0 else len(self._text)) - construct.brace
        return end

    def _through(self, start: int, end: int) -> int:
        """Go through a directive, where only backtick runs mean something, if they pair beyond its end."""
        pos = start
        while match := _IN_DIRECTIVE.search(self._text, pos, end):
            pos = match.end()
            if match[0][0] == "`" and self._runs.after(pos - match.start(), pos) >= 0:
                pos = self._code(match.start(), pos)
            if pos > end:
                return pos
        return end

    def _finish(self) -> None:
        self._markup.finish()
        self._quotations.finish()
        for start, end in self._strikes.found:
            self._layout.hide(start, end, SkipReason.STRUCK)
        for start, end in self._quotations.found:
            self._layout.hide(start, end, SkipReason.QUOTED, bounds=True)
        self._layout.hides.sort()
