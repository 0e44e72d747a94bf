"""The parent's side: one job followed to its end, whatever its events come from (M-56, M-62).

history = await await_job(nats_events(url, job_id), job_id, timeout_s=60)
history.end.payload["result"]
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final

from messaging.errors import MessagingError
from messaging.events import JobEvent
from messaging.sequence import PATIENCE_S, EventSequence

# How often a gap is looked at while nothing arrives.
_LOOK_EVERY_S: Final = 0.5

Events = AsyncIterator[JobEvent]


class JobTimedOut(MessagingError):
    """The job did not end in time. `events` are those that came until then."""

    def __init__(self, job_id: str, timeout_s: float, events: tuple[JobEvent, ...]) -> None:
        super().__init__(f"job {job_id} did not end within {timeout_s:g} s; {len(events)} events came")
        self.job_id = job_id
        self.events = events


@dataclass(frozen=True, slots=True)
class History:
    """All events of a job, in order, each once. `incomplete`: one or more never came."""

    events: tuple[JobEvent, ...]
    incomplete: bool = False

    @property
    def end(self) -> JobEvent | None:
        """The terminal event; None where the source ended without one."""
        return next((event for event in self.events if event.type.terminal), None)


async def await_job(
    events: Events,
    job_id: str,
    *,
    timeout_s: float | None = None,
    on_event: Callable[[JobEvent], object] = lambda _: None,
) -> History:
    """Follows `events` until the job has ended; raises `JobTimedOut`. `on_event` is told each in order."""
    sequence, told = EventSequence(), list[JobEvent]()
    try:
        async with asyncio.timeout(timeout_s):
            async for event in in_order(events, job_id, sequence):
                told.append(event)
                on_event(event)
    except TimeoutError:
        raise JobTimedOut(job_id, timeout_s or 0.0, tuple(told)) from None
    return History(tuple(told), sequence.incomplete)


async def in_order(
    events: Events,
    job_id: str,
    sequence: EventSequence | None = None,
    monotonic_s: Callable[[], float] = time.monotonic,
) -> AsyncIterator[JobEvent]:
    """The events of `job_id` out of `events`, ordered, each once, up to its end or theirs."""
    sequence = sequence or EventSequence()
    async with aclosing(_with_pauses(events)) as arriving:
        async for event in arriving:
            if event is not None and event.job_id == job_id:
                sequence.feed(event, monotonic_s())
            for ready in sequence.ready(monotonic_s()):
                yield ready
            if sequence.ended:
                return
    # Nothing can fill a gap any more.
    for ready in sequence.ready(monotonic_s() + 2 * PATIENCE_S):
        yield ready


async def _with_pauses(events: Events) -> AsyncGenerator[JobEvent | None, None]:
    """The events, and None from time to time while none comes. Nothing is lost by looking away."""
    upcoming = asyncio.ensure_future(anext(events, None))
    try:
        while True:
            done, _ = await asyncio.wait({upcoming}, timeout=_LOOK_EVERY_S)
            if not done:
                yield None
            elif (event := upcoming.result()) is None:
                return
            else:
                upcoming = asyncio.ensure_future(anext(events, None))
                yield event
    finally:
        upcoming.cancel()
        await asyncio.wait({upcoming})
        if hasattr(events, "aclose"):
            await events.aclose()
