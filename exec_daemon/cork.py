"""The head of a response and its body in one piece: one TLS record, one call of the kernel, one wake-up."""

from __future__ import annotations

import asyncio
from typing import Any


class Corked:
    """A transport for one response. What is written first waits for the second, or for the loop's next turn.

    uvicorn writes the head of a response and then its body. Sent apart they cost about a third of the time
    that a small answer takes.
    """

    __slots__ = ("_soon", "_transport", "_waiting")

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._waiting: bytes | None = None
        self._soon: asyncio.Handle | None = None

    def write(self, piece: bytes) -> None:
        """As a transport's `write`."""
        if self._soon is None:
            self._waiting = piece
            self._soon = asyncio.get_running_loop().call_soon(self.flush)
        elif self._waiting is None:
            self._transport.write(piece)
        else:
            piece, self._waiting = self._waiting + piece, None
            self._soon.cancel()
            self._transport.write(piece)

    def flush(self) -> None:
        """Sends what waits."""
        piece, self._waiting = self._waiting, None
        if piece is not None:
            self._transport.write(piece)

    def close(self) -> None:
        """As a transport's `close`: what was written is sent."""
        self.flush()
        self._transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)
