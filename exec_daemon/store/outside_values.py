"""Values of jobs that run elsewhere: what is expected of them, and what has come."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from messaging import JobEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class OutsideJob:
    """A job that runs elsewhere and tells its events by callback; `identity` expects it."""

    id: str
    identity: str
    created_at: str


@dataclass(frozen=True, slots=True)
class Arrival:
    """An event of such a job as it came; `sha256` is of the body."""

    event: JobEvent
    sha256: str
    received_at: str


@dataclass(frozen=True, slots=True)
class Standing:
    """How far such a job has come: how many events, the highest number (-1: none), and its end."""

    count: int
    last_seq: int
    end: JobEvent | None

    @property
    def has_gap(self) -> bool:
        """Is an event missing before the last one?"""
        return self.count <= self.last_seq


class Reception(StrEnum):
    """What became of an event that came (M-53)."""

    STORED = "stored"
    REPLAYED = "replayed"
    CONFLICT = "conflict"
