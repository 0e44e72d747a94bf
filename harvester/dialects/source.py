"""The text that a dialect's machine reads: it grows at one end and is given up at the other.

A machine is a generator. It yields when it needs more text than there is, and is resumed when there is
more, so it reads as if the whole reply lay before it. Chunking is invisible because nothing here decides
on the end of a chunk: only on characters, and on the end of the reply.

Positions are offsets into `text`. They stay good while a call is read; `settle` moves the beginning of
`text`, and is for the outermost loop of a machine only. `base + position` is the place in the reply.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator
from functools import cache
from typing import Final, TypeVar

T = TypeVar("T")

Steps = Generator[None, None, T]

# Above this, new text is collected until it is an eighth of what waits, and what was read is given up when it
# is half: so that a long call that comes in single characters costs linear time too. Characters.
_SMALL: Final = 4096

_FAR: Final = (1 << 63) - 1  # the end of any text

_NO_BLANK: Final = re.compile(r"\S")

# A token that a model's vocabulary keeps for markup. It is never cut in two, and never text.
_CONTROL: Final = re.compile(r"<\|\w+\|?>|<\w+\|>|｜\w+｜")


class Markers:
    """Some literal strings to look for. None begins with another one, so the first found is the one meant."""

    def __init__(self, *literals: str) -> None:
        self.literals = literals
        self.longest = max(map(len, literals), default=0)
        self._starts = frozenset(text[:size] for text in literals for size in range(1, len(text)))
        self._pattern = re.compile("|".join(map(re.escape, literals)) or r"(?!)")

    def search(self, text: str, start: int, end: int = _FAR) -> re.Match[str] | None:
        """The first marker that stands between `start` and `end`."""
        return self._pattern.search(text, start, end)

    def at(self, text: str, position: int) -> str | None:
        """The marker that stands at `position`."""
        found = self._pattern.match(text, position)
        return found[0] if found else None

    def may_begin(self, rest: str) -> bool:
        """Could `rest`, which ends where the text ends so far, be the beginning of a marker?"""
        return not rest or rest in self._starts

    def began(self, rest: str) -> bool:
        """Is `rest`, behind which the reply ends, a marker of several tokens that was begun?"""
        return rest in self._starts and _CONTROL.search(rest) is not None

    def clear(self, text: str, start: int) -> int:
        """The end of what in `text` cannot be part of a marker that is still to come."""
        for position in range(max(start, len(text) - self.longest + 1), len(text)):
            if text[position:] in self._starts:
                return position
        return len(text)


class Characters(Markers):
    """Single characters to look for, by a pattern."""

    def __init__(self, pattern: str) -> None:
        super().__init__()
        self.longest = 1
        self._pattern = re.compile(pattern)


@cache
def marks(*literals: str) -> Markers:
    """The markers of these strings, made once."""
    return Markers(*literals)


class Source:
    """The reply so far. `at` is where reading goes on; what stands before it is done with."""

    def __init__(self) -> None:
        self.text = ""
        self.at = 0
        self.base = 0
        self.ended = False
        self._coming: list[str] = []
        self._coming_chars = 0

    def add(self, text: str) -> bool:
        """Take more text; true if there is enough of it to wake the machine."""
        self._coming.append(text)
        self._coming_chars += len(text)
        waiting = len(self.text) - self.at
        return waiting <= _SMALL or self._coming_chars * 8 >= waiting

    def take(self) -> None:
        """Let the machine see what was added."""
        self.text = "".join((self.text, *self._coming))
        self._coming, self._coming_chars = [], 0

    def end(self) -> None:
        """There will be no more text."""
        self.take()
        self.ended = True

    def settle(self, position: int) -> None:
        """Go on at `position`, and give up what stands before it once that is worth the copy."""
        self.at = position
        if self.at > max(_SMALL, len(self.text) // 2):
            self.text, self.base, self.at = self.text[self.at :], self.base + self.at, 0

    def more(self) -> Steps[bool]:
        """Wait for more text; false where the reply ends."""
        if self.ended:
            return False
        yield
        return True

    def pass_on(self, markers: Markers, say: Callable[[int, str], None]) -> Steps[str | None]:
        """Say all text up to the next marker, as it comes; the marker stands at `at` then. None at the end.

        `say` gets the place in the reply and the text.
        """
        while True:
            found = markers.search(self.text, self.at)
            end = found.start() if found else markers.clear(self.text, self.at)
            if end > self.at:
                say(self.base + self.at, self.text[self.at : end])
                self.settle(end)
            if found:
                return found[0]
            if not (yield from self.more()):
                rest = self.text[self.at :]
                if rest and not markers.began(rest):
                    say(self.base + self.at, rest)
                self.at = len(self.text)
                return None

    def find(self, markers: Markers, start: int) -> Steps[tuple[int, str] | None]:
        """The next marker from `start` on, and where it stands; None if the reply ends without one."""
        while True:
            found = markers.search(self.text, start)
            if found:
                return found.start(), found[0]
            start = max(start, markers.clear(self.text, start))
            if not (yield from self.more()):
                return None

    def find_near(self, markers: Markers, start: int, most: int) -> Steps[tuple[int, str] | None]:
        """The next marker, if it stands within `most` characters from `start` on."""
        while True:
            found = markers.search(self.text, start, start + most)
            if found:
                return found.start(), found[0]
            if len(self.text) >= start + most or not (yield from self.more()):
                return None

    def marker_at(self, position: int, markers: Markers) -> Steps[str | None]:
        """The marker that stands at `position`, if one does."""
        while True:
            found = markers.at(self.text, position)
            if found or not markers.may_begin(self.text[position : position + markers.longest]):
                return found
            if not (yield from self.more()):
                return None

    def cut_in(self, position: int, markers: Markers) -> Steps[bool]:
        """Does the reply end at `position`, or in a marker that begins there?"""
        found = yield from self.marker_at(position, markers)
        return found is None and self.ended and markers.may_begin(self.text[position:])

    def blanks(self, position: int) -> Steps[int]:
        """Where the blanks at `position` end: the next character is none, or the reply ends there."""
        while True:
            found = _NO_BLANK.search(self.text, position)
            if found:
                return found.start()
            position = len(self.text)
            if not (yield from self.more()):
                return position

    def char(self, position: int) -> Steps[str]:
        """The character at `position`, "" where the reply ends before it."""
        while position >= len(self.text):
            if not (yield from self.more()):
                return ""
        return self.text[position]
