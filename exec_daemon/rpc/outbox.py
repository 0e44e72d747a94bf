"""What one connection is sent: its answers, never dropped, and the events of the log as far as it keeps up.

An answer stands where it was given: behind the events that had happened, before those that followed (J-14).
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from typing import Any, Final

from exec_daemon.rpc.event_log import EventLog
from messaging.rpc import encode

# Who sends on without reading is read no further: so many answers wait.
_MOST_WAITING: Final = 64
# J-01: blank lines are nothing, so one shows that the connection still stands.
_KEEP_ALIVE: Final = b"\n"


class Outbox:
    """Belongs to one connection; begins with the next event."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._seen = log.last
        self._answers: deque[tuple[int, bytes]] = deque()
        self._wake = asyncio.Event()
        self._room = asyncio.Event()
        self._ended = False

    def answer(self, frame: Mapping[str, Any]) -> None:
        """The frame is sent behind what has happened so far."""
        self._answers.append((self._log.last, encode(frame)))
        self._wake.set()

    async def room(self) -> None:
        """Waits until few enough answers wait to be sent."""
        while len(self._answers) >= _MOST_WAITING and not self._ended:
            self._room.clear()
            await self._room.wait()

    def end(self) -> None:
        """Nothing comes any more; what is there is still sent."""
        self._ended = True
        self._wake.set()
        self._room.set()

    async def lines(
        self, keep_alive_s: float, still_valid: Callable[[], Awaitable[bool]]
    ) -> AsyncGenerator[bytes]:
        """Everything, until `end` or until `still_valid` says no."""
        try:
            with self._log.watched(self._wake.set):
                while True:
                    self._wake.clear()
                    while (line := self._next()) is not None:
                        yield line
                    if self._ended:
                        return
                    if not await self._woken(keep_alive_s):
                        if not await still_valid():
                            return
                        yield _KEEP_ALIVE
        finally:
            self.end()

    async def _woken(self, timeout_s: float) -> bool:
        try:
            async with asyncio.timeout(timeout_s):
                await self._wake.wait()
        except TimeoutError:
            return False
        return True

    def _next(self) -> bytes | None:
        if self._answers and self._answers[0][0] <= self._seen:
            self._room.set()
            return self._answers.popleft()[1]
        return self._event() if self._seen < self._log.last else None

    def _event(self) -> bytes:
        if self._seen + 1 < self._log.first:
            line = self._log.lagged(self._seen)
            self._seen = self._log.first - 1
            return line
        self._seen += 1
        return self._log.line(self._seen)
