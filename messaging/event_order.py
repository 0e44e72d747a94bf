"""Which event may follow which (M-10 to M-12): one table, for whoever emits and for whoever receives."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from messaging.errors import MessagingError
from messaging.events import EventType


class OutOfOrder(MessagingError):
    """Misuse: this event may not come now. `phase` is where the job stands, `event` what was tried."""

    def __init__(self, phase: Phase, event: EventType) -> None:
        super().__init__(f"a job that is {phase} has no {event} event")
        self.phase = phase
        self.event = event


class Phase(StrEnum):
    """Where a job stands, as its events tell."""

    NEW = "new"
    RUNNING = "running"
    ENDED = "ended"


# M-12: a usage failure is told without `accepted`. M-10: progress and warning come in any order.
_AFTER: Final[Mapping[Phase, Mapping[EventType, Phase]]] = MappingProxyType(
    {
        Phase.NEW: {EventType.ACCEPTED: Phase.RUNNING, EventType.FAILED: Phase.ENDED},
        Phase.RUNNING: {
            EventType.PROGRESS: Phase.RUNNING,
            EventType.WARNING: Phase.RUNNING,
            EventType.SUCCEEDED: Phase.ENDED,
            EventType.FAILED: Phase.ENDED,
        },
        Phase.ENDED: {},
    }
)


def after(phase: Phase, event: EventType) -> Phase:
    """Where the job stands after `event`; raises `OutOfOrder` where it may not come (M-11)."""
    allowed = _AFTER[phase]
    if event not in allowed:
        raise OutOfOrder(phase, event)
    return allowed[event]
