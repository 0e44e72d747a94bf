"""The part of the store's port that remembers how far readers have read (O-83, O-85)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """`reader` (an identity) has read a thread up to message number `seq`; `at` is when it said so."""

    reader: str
    seq: int
    at: str


class Readings(Protocol):
    """Who has read what. A reader never becomes one who has read less."""

    async def mark_read(self, thread_id: str, reader: str, seq: int) -> Reading:
        """Raises `NoSuchThread`; a `seq` behind the last message means the last one."""
        ...

    async def readings(self, thread_id: str) -> list[Reading]:
        """All readers of a thread, by name."""
        ...
