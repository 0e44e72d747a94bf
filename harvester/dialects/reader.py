"""A reply of a model, read whole or as it comes (GRAMMAR 9).

`Reader` and `parse` are the same machine. What is not known until later is waited for, never guessed: with
`generation_prompt=None` nobody said whether the prompt has opened the model's reasoning, so nothing is
reported until the reply shows it. `""` says that it has not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from harvester.dialects.completion import Completion, Piece
from harvester.dialects.dialect import Dialect
from harvester.dialects.reading import Reading
from harvester.dialects.recognise import recognise
from harvester.dialects.source import Source
from harvester.dialects.table import DIALECTS
from harvester.dialects.tools import Tools
from harvester.dialects.writer import Writer
from harvester.errors import ScannerClosed, UnknownDialect

AUTO: Final = "auto"


def dialect_named(name: str | Dialect) -> Dialect | None:
    """The dialect of that name, None for `auto`; raises `UnknownDialect`."""
    if isinstance(name, Dialect):
        return name
    if name == AUTO:
        return None
    if name not in DIALECTS:
        raise UnknownDialect(name, tuple(DIALECTS))
    return DIALECTS[name]


def prompt_that_thinks(text: str, dialect: str) -> str | None:
    """A prompt of the dialect that opened the reasoning of `text`; None where reasoning has no markers."""
    thoughts = (dialect_named(dialect) or recognise(text)).tags.thoughts
    found = next((thought for thought in thoughts if thought.close in text), None)
    return found.open if found else next((thought.open for thought in thoughts), None)


class Reader:
    """Reads one reply in one dialect: a name of the table, `auto`, or a dialect of the caller's own.

    `tools` are as the OpenAI API has them; they type raw arguments.

    `truncated`: the model was cut off, so that the end of the reply completes nothing.
    """

    def __init__(
        self,
        dialect: str | Dialect,
        *,
        tools: Iterable[Mapping[str, Any]] | Tools = (),
        generation_prompt: str | None = None,
        truncated: bool = False,
    ) -> None:
        self._dialect = dialect_named(dialect)
        self._tools = tools if isinstance(tools, Tools) else Tools.of(tools)
        self._prompt = generation_prompt
        self._truncated = truncated
        self._waiting: list[str] = []
        self._run: _Run | None = None
        self._closed = False
        if self._dialect is not None and (generation_prompt is not None or not self._dialect.tags.thoughts):
            self._run = self._begun(self._dialect, generation_prompt or "")

    def feed(self, text: str) -> list[Piece]:
        """Read on; the pieces that are known by now."""
        if self._closed:
            raise ScannerClosed("the reader is closed")
        if self._run is None:
            self._waiting.append(text)
            return []
        return self._run.feed(text)

    def close(self) -> list[Piece]:
        """The reply ends here; the rest of its pieces."""
        if self._closed:
            raise ScannerClosed("the reader is closed")
        self._closed = True
        return self._decided("".join(self._waiting)) if self._run is None else self._run.close()

    def _begun(self, dialect: Dialect, prompt: str) -> _Run:
        return _Run(dialect, self._tools, prompt, truncated=self._truncated)

    def _decided(self, text: str) -> list[Piece]:
        """The whole reply, where dialect or prompt were not given."""
        dialect = self._dialect or recognise(text, self._prompt)
        pieces = self._begun(dialect, self._prompt or "").whole(text)
        if self._prompt is None:
            prompt = dialect.prompt_before(Completion.of(pieces), truncated=self._truncated)
            return self._begun(dialect, prompt).whole(text) if prompt else pieces
        return pieces


class _Run:
    """A dialect's machine at work."""

    def __init__(self, dialect: Dialect, tools: Tools, prompt: str, *, truncated: bool) -> None:
        self._source = Source()
        self._writer = Writer(dialect.edges)
        self._steps = dialect.read(Reading(self._source, self._writer, tools, truncated), prompt)
        next(self._steps, None)

    def feed(self, text: str) -> list[Piece]:
        if self._source.add(text):
            self._source.take()
            next(self._steps, None)
        return self._said()

    def close(self) -> list[Piece]:
        self._source.end()
        next(self._steps, None)
        self._writer.close()
        return self._said()

    def whole(self, text: str) -> list[Piece]:
        return [*self.feed(text), *self.close()]

    def _said(self) -> list[Piece]:
        said, self._writer.pieces = self._writer.pieces, []
        return said


def parse(
    text: str,
    *,
    dialect: str | Dialect,
    tools: Iterable[Mapping[str, Any]] | Tools = (),
    generation_prompt: str | None = None,
    truncated: bool = False,
) -> Completion:
    """What a whole reply says, thinks and calls. No text raises; a name that is no dialect does."""
    reader = Reader(dialect, tools=tools, generation_prompt=generation_prompt, truncated=truncated)
    return Completion.of([*reader.feed(text), *reader.close()])
