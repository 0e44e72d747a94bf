"""The connections that are open, so that a daemon which stops can end them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from exec_daemon.rpc.outbox import Outbox


class Connections:
    """Not for several threads."""

    def __init__(self) -> None:
        self._outboxes: set[Outbox] = set()
        self._closed = False

    @contextmanager
    def open(self, outbox: Outbox) -> Iterator[None]:
        """One connection, for as long as the block lasts."""
        self._outboxes.add(outbox)
        if self._closed:
            outbox.end()
        try:
            yield
        finally:
            self._outboxes.discard(outbox)

    async def hang_up(self, stopping: asyncio.Event) -> None:
        """Ends all of them once the daemon stops."""
        await stopping.wait()
        self._closed = True
        for outbox in self._outboxes:
            outbox.end()
