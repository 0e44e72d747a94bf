"""Short ways to write job events, and a sink that keeps them."""

from __future__ import annotations

from itertools import count
from typing import Any

from messaging import EventType, JobEvent

TS = "2026-11-30T12:00:00.000Z"

PAYLOADS: dict[EventType, dict[str, Any]] = {
    EventType.ACCEPTED: {"url": "https://a.example/x"},
    EventType.PROGRESS: {"stage": "extract"},
    EventType.WARNING: {"message": "slow"},
    EventType.SUCCEEDED: {"result": {"title": "Größe ☃"}},
    EventType.FAILED: {"code": "general", "message": "no"},
}


def event(
    seq: int, kind: EventType = EventType.PROGRESS, *, job_id: str = "job-1", **payload: Any
) -> JobEvent:
    return JobEvent(job_id=job_id, seq=seq, ts=TS, type=kind, payload=payload or PAYLOADS[kind])


def story(steps: int, job_id: str = "job-1") -> list[JobEvent]:
    """A job of `steps` events that succeeds."""
    kinds = [EventType.ACCEPTED, *[EventType.PROGRESS] * (steps - 2), EventType.SUCCEEDED]
    return [event(seq, kind, job_id=job_id) for seq, kind in enumerate(kinds)]


class Kept:
    """A sink in memory."""

    def __init__(self) -> None:
        self.events: list[JobEvent] = []
        self.closed = 0

    async def emit(self, one: JobEvent) -> None:
        self.events.append(one)

    async def close(self) -> None:
        self.closed += 1


class Ticks:
    """A clock that moves one millisecond with each look."""

    def __init__(self) -> None:
        self._ticks = count()

    def __call__(self) -> str:
        return f"2026-11-30T12:00:00.{next(self._ticks):03d}Z"
