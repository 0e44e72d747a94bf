"""What a rule looks at: a timer, its runs, and the moment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from exec_daemon.store.sources import NewId
from exec_daemon.store.timer_values import Timer, TimerRun
from messaging import OpInfo
from messaging.moment import iso


@dataclass(frozen=True, slots=True)
class Address:
    """Who is woken: the agent's home thread, and the registry as that agent may use it."""

    home: str
    ops: Sequence[OpInfo]


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """`runs` are those under way and the newest one, the newest first."""

    timer: Timer
    runs: Sequence[TimerRun]
    now: datetime
    new_id: NewId

    def touched(self, **fields: Any) -> Timer:
        """The timer with other `fields`, as its next version."""
        return replace(self.timer, version=self.timer.version + 1, updated_at=iso(self.now), **fields)

    def due(self, address: Address) -> Due:
        """The same, with the one who may be woken."""
        return Due(timer=self.timer, runs=self.runs, now=self.now, new_id=self.new_id, address=address)


@dataclass(frozen=True, slots=True, kw_only=True)
class Due(Look):
    """A timer whose agent may be woken."""

    address: Address


def moment(text: str) -> datetime:
    """The moment that a store's text names."""
    return datetime.fromisoformat(text).astimezone(UTC)
