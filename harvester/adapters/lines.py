"""Bytes in, lines out: how the chunks were cut cannot be seen in the lines (sans-IO)."""

from __future__ import annotations

from typing import Final

# Tool results with pictures in them run to some megabytes; a longer line is a program gone wrong.
MAX_LINE_BYTES: Final = 16 << 20


class LineReader:
    """Feed it bytes as they come. Bytes that are no UTF-8 become U+FFFD; CRLF ends a line as LF does.

    Of a line over `max_line_bytes` the rest is dropped, so memory is bounded. Use after `close()` raises.
    """

    def __init__(self, max_line_bytes: int = MAX_LINE_BYTES) -> None:
        self._most = max_line_bytes
        self._pieces: list[bytes] = []
        self._held = 0
        self._closed = False

    def feed(self, chunk: bytes) -> list[str]:
        """The lines that end in `chunk`, without their ends."""
        if self._closed:
            raise ValueError("this reader is closed")
        *ended, rest = chunk.split(b"\n")
        lines = []
        for piece in ended:
            self._hold(piece)
            lines.append(self._take())
        self._hold(rest)
        return lines

    def close(self) -> list[str]:
        """The last line, if it has no end: what a writer that died was in the middle of."""
        self._closed = True
        return [self._take()] if self._held else []

    def _hold(self, piece: bytes) -> None:
        kept = piece[: self._most - self._held]
        if kept:
            self._pieces.append(kept)
            self._held += len(kept)

    def _take(self) -> str:
        line = b"".join(self._pieces)
        self._pieces, self._held = [], 0
        return line.removesuffix(b"\r").decode("utf-8", "replace")
