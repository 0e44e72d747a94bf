"""A dialect as data: its name, what reads it, the blanks around its texts, what it is recognised by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from harvester.dialects.completion import Completion, Content
from harvester.dialects.reading import Reading
from harvester.dialects.source import Steps
from harvester.dialects.tagged import Tags, read_tagged
from harvester.dialects.writer import Edges

# Reads a whole reply; gets the generation prompt that the reply goes on from.
Machine: TypeAlias = Callable[[Reading, str], Steps[None]]

_NO_TAGS = Tags(calls={})
_NO_EDGES = Edges()


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """A family of formats. It has `tags`, or a `machine` of its own, or both.

    `signs` are patterns, one of which a reply that calls something in this dialect holds, and few others do.
    `apart`: its texts are messages of their own, so that Markdown in one ends with it.
    `thoughts` of its tags say whether what stands before an orphan closing marker is reasoning.
    """

    name: str
    edges: Edges = _NO_EDGES
    signs: tuple[str, ...] = ()
    tags: Tags = _NO_TAGS
    machine: Machine | None = None
    apart: bool = False

    def read(self, reading: Reading, prompt: str) -> Steps[None]:
        """The machine, at work on `reading`."""
        if self.machine is not None:
            return self.machine(reading, prompt)
        return read_tagged(self.tags, reading, prompt)

    def prompt_before(self, read: Completion, *, truncated: bool) -> str:
        """A prompt that a reply can have gone on from which, read as if it had none, gives `read`.

        A closing marker in the text, with nothing that it closes, was opened by the prompt. And a reply that
        was cut off before it showed any marker was cut off in its reasoning, if it may have had any.
        """
        thoughts = [thought for thought in self.tags.thoughts if thought.prompted]
        if read.reasoning is not None:
            return ""
        content = read.content or ""
        closed = [thought for thought in thoughts if thought.close in content]
        if closed:
            return min(closed, key=lambda thought: content.find(thought.close)).open
        unmarked = all(isinstance(piece, Content) for piece in read.pieces)
        return thoughts[0].open if thoughts and truncated and unmarked else ""
