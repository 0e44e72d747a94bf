"""Where a machine writes what it has read; knows which blanks are markup and which are text.

Chat templates put blanks around reasoning and calls. What a template adds is no part of the text; what is
left is verbatim. Which is which is data of the dialect: `Edges`, and the edges of its reasoning.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from harvester.dialects.completion import Content, Dropped, NativeCall, Piece, Reasoning

# From how the text before a call ends, and the blanks between the two, to the blanks that are text.
Gap: TypeAlias = Callable[[str, str], str]

Part: TypeAlias = tuple[int, str]

_LAST_CHARS: Final = 8  # as much of the text before a call as a Gap gets to see


def keep_gap(_before: str, gap: str) -> str:
    """The template puts nothing before a call."""
    return gap


def drop_gap(_before: str, _gap: str) -> str:
    """The template strips the text before a call and puts blanks of its own."""
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Edges:
    """The blanks that a template puts around the content: at its start, and before a call."""

    start: str = ""
    gap: Gap = keep_gap


class _Passage:
    """Text of one kind as it comes in. Blanks at its end are held back until it is known what they are.

    `blanks` are the characters that may be markup, None for white space; `start` those that are markup at the
    very beginning.
    """

    def __init__(self, blanks: str | None, start: str) -> None:
        self._blanks = blanks
        self._start = start
        self._fresh = True
        self._held: list[Part] = []

    def add(self, at: int, text: str) -> list[Part]:
        """Take in what stands at `at`; gives what is text by now."""
        cut = len(text) if self._blanks == "" else len(text.rstrip(self._blanks))
        said: list[Part] = []
        if cut:
            said, self._held = [*self._held, (at, text[:cut])], []
            if self._fresh:
                said, self._fresh = self._begun(said), False
        if cut < len(text):
            self._held.append((at + cut, text[cut:]))
        return said

    def held(self) -> list[Part]:
        """The blanks at the end, which are nothing from now on unless the caller says them."""
        held, self._held = self._held, []
        return held

    def _begun(self, parts: list[Part]) -> list[Part]:
        first = next(index for index, (_, text) in enumerate(parts) if text.lstrip(self._start))
        at, text = parts[first]
        body = text.lstrip(self._start)
        return [(at + len(text) - len(body), body), *parts[first + 1 :]]


class Writer:
    """Collects the pieces of a reply."""

    def __init__(self, edges: Edges) -> None:
        self.pieces: list[Piece] = []
        self._gap = edges.gap
        self._content = _Passage(None, edges.start)
        self._thought = _Passage("", "")
        self._thought_is_verbatim = True
        self._last = ""  # how the content ends so far
        self._since_call = False  # was there text since the last call?
        self._called = 0  # where the last call ended

    @property
    def has_content(self) -> bool:
        """Was there any text that is neither blank nor thought?"""
        return bool(self._last)

    def content(self, at: int, text: str) -> None:
        """Text of the reply that stands at `at`."""
        self.thought()
        said = self._content.add(at, text)
        self._say(said)
        self._since_call = self._since_call or bool(said)

    def think(self, edges: str) -> None:
        """Reasoning begins; `edges` are the characters that the template puts at either end of it."""
        self.thought()
        self._thought = _Passage(edges or None, edges)
        self._thought_is_verbatim = not edges

    def reasoning(self, at: int, text: str) -> None:
        """Reasoning that stands at `at`."""
        self._reason(self._thought.add(at, text))

    def thought(self) -> None:
        """Reasoning ends with its own marker, or the reply does: blanks at its end are its own."""
        held = self._thought.held()
        if self._thought_is_verbatim:
            self._reason(held)

    def call(self, name: str, arguments: dict[str, Any], start: int, end: int) -> None:
        """A call that stands from `start` to `end`."""
        self._before_call()
        self.pieces.append(NativeCall(name, arguments, (start, end)))
        self._called = end

    def drop(self, start: int, end: int) -> None:
        """Markup from `start` to `end` that came to nothing, but for the calls that were complete in it."""
        self._before_call()
        self.pieces.append(Dropped((max(start, self._called), end)))

    def close(self) -> None:
        """The reply ends. Blanks behind its last call are no text."""
        self.thought()
        held = self._content.held()
        if self._since_call:
            self._say(held)

    def _say(self, parts: list[Part]) -> None:
        for at, text in parts:
            self.pieces.append(Content(text, (at, at + len(text))))
            self._last = (self._last + text[-_LAST_CHARS:])[-_LAST_CHARS:]

    def _reason(self, parts: list[Part]) -> None:
        self.pieces.extend(Reasoning(text, (at, at + len(text))) for at, text in parts)

    def _before_call(self) -> None:
        held = self._thought.held()
        if held and self._thought_is_verbatim:
            kept = self._gap("", "".join(text for _, text in held))
            self._reason([(held[0][0], kept)] if kept else [])
        held = self._content.held()
        if held and self._since_call:
            kept = self._gap(self._last, "".join(text for _, text in held))
            self._say([(held[0][0], kept)] if kept else [])
        self._since_call = False
