"""What a dialect's reader reports: frozen pieces, in the order of the reply (GRAMMAR 7 and 9)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from harvester.events import Span


@dataclass(frozen=True, slots=True)
class Content:
    """Text for the thread, as it was written. `span` is half-open, in code points of the reply."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class Reasoning:
    """Text that the model thought; never for the thread, and nothing in it runs."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class NativeCall:
    """One complete call. `name` and `arguments` are what the text says, typed by the tool's schema."""

    name: str
    arguments: dict[str, Any]
    span: Span


@dataclass(frozen=True, slots=True)
class Dropped:
    """Markup that came to no call: cut off, broken, or for nobody. For `--explain` only."""

    span: Span


Piece: TypeAlias = Content | Reasoning | NativeCall | Dropped


@dataclass(frozen=True, slots=True)
class Completion:
    """A whole reply, taken apart. Content and reasoning are None where there is none."""

    content: str | None
    reasoning: str | None
    calls: tuple[NativeCall, ...]
    pieces: tuple[Piece, ...] = ()

    @classmethod
    def of(cls, pieces: Iterable[Piece]) -> Completion:
        """The completion that `pieces` make: texts joined in order, nothing between them."""
        found = tuple(pieces)
        return cls(
            content="".join(piece.text for piece in found if isinstance(piece, Content)) or None,
            reasoning="".join(piece.text for piece in found if isinstance(piece, Reasoning)) or None,
            calls=tuple(piece for piece in found if isinstance(piece, NativeCall)),
            pieces=found,
        )
