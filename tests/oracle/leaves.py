"""What the block reading yields: leaves with their text, and where each of its characters stands."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

DEEPEST = 32  # GRAMMAR 2: containers nest at most 32 deep
LONGEST_BYTES = 256 * 1024  # GRAMMAR 2: a paragraph over 256 KiB is inert

PARAGRAPH, HEADING, ROW = "paragraph", "heading", "row"
FENCE, CODE, HTML, BREAK = "fence", "code", "html", "break"
INLINE = frozenset({PARAGRAPH, HEADING, ROW})


@dataclass(frozen=True)
class Piece:
    """Text of one line in a leaf; `at` is its offset in the reply."""

    at: int
    text: str


@dataclass
class Leaf:
    """A leaf block while it is read and after; `containers` is how many enclose it."""

    kind: str
    at: int
    containers: int
    quoted: bool
    pieces: list[Piece] = field(default_factory=list)
    closed: bool = False  # a fence that met its closing fence
    info: str = ""
    fence: str = ""
    indent: int = 0
    html: int = 0

    def add(self, at: int, text: str) -> None:
        self.pieces.append(Piece(at, text))

    @cached_property
    def text(self) -> str:
        return "\n".join(piece.text for piece in self.pieces)

    @cached_property
    def offsets(self) -> list[int]:
        """Where in the reply each character of `text` stands; one more for its end."""
        found: list[int] = []
        for piece in self.pieces:
            found.extend(range(piece.at, piece.at + len(piece.text) + 1))
        return found or [self.at]

    @property
    def inert(self) -> bool:
        return self.quoted or self.containers > DEEPEST or self._too_long

    @property
    def _too_long(self) -> bool:
        return self.kind in INLINE and len(self.text.encode("utf-8", "surrogatepass")) > LONGEST_BYTES
