"""A receiver that is away for a moment does not end a job: its steps wait in memory (M-40, M-62).

A spool (`messaging.sinks.spool`) does the same on disk, and outlives the tool.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable
from typing import Final

from messaging.emitter import Sink
from messaging.events import JobEvent
from messaging.sinks.errors import Undelivered

log = logging.getLogger(__name__)

# While the other side is away, the steps of a job do not wait for it again and again.
PROBE_EVERY_S: Final = 5.0
# An event has a kibibyte or so; a job that tells more than this to nobody is better ended.
_MOST_EVENTS: Final = 1000


class BacklogSink:
    """Keeps what `sink` did not deliver and sends it before anything newer.

    Raises `Undelivered` for the first event of a job, so that a wrong address is found before the work, and
    for the terminal one, which is what counts. Nothing waits behind an event that was refused for good.
    """

    def __init__(self, sink: Sink, monotonic_s: Callable[[], float] = time.monotonic) -> None:
        self._sink = sink
        self._monotonic_s = monotonic_s
        self._one_at_a_time = asyncio.Lock()
        self._waiting: deque[JobEvent] = deque()
        self._failed_at_s = 0.0

    async def emit(self, event: JobEvent) -> None:
        async with self._one_at_a_time:
            self._waiting.append(event)
            failure = await self._sent() if self._worth_a_try(event) else None
            if failure is None:
                return
            self._failed_at_s = self._monotonic_s()
            if event.type.terminal or event.seq == 0 or len(self._waiting) >= _MOST_EVENTS:
                raise failure
            log.warning("%s; it is kept and will be sent again", failure)

    async def close(self) -> None:
        async with self._one_at_a_time:
            await self._sink.close()

    def _worth_a_try(self, event: JobEvent) -> bool:
        late = self._monotonic_s() - self._failed_at_s >= PROBE_EVERY_S
        full = len(self._waiting) >= _MOST_EVENTS
        return len(self._waiting) == 1 or event.type.terminal or late or full

    async def _sent(self) -> Undelivered | None:
        """What the oldest event met that has to wait; None when nothing waits any more."""
        while self._waiting:
            try:
                await self._sink.emit(self._waiting[0])
            except Undelivered as failure:
                if not failure.refused or len(self._waiting) == 1:
                    return failure
                log.warning("%s; it is left out", failure)
            self._waiting.popleft()
        return None
