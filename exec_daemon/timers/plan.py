"""What a timer is to do, as it is kept with it: schedule, message and policies (O 7.7)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

from exec_daemon.timers.reading import Kind
from exec_daemon.timers.schedule import Cron, Every, Once, Schedule
from messaging.moment import iso


class Misfire(StrEnum):
    """What becomes of a time that passed while nobody could see to it."""

    SKIP = "skip"
    RUN_ONCE = "run_once"


class Overlap(StrEnum):
    """What becomes of a time at which the run before has not ended. `queue` keeps one and no more."""

    SKIP = "skip"
    QUEUE = "queue"


class ContextMode(StrEnum):
    """Where the agent is woken: in its thread, or each time in a new one (T-62)."""

    GROUP = "group"
    ISOLATED = "isolated"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Times are UTC ISO 8601; durations in seconds. `schedule` is as it was written.

    `thread` None is the agent's home. `start` is what an interval counts from, or the one time of `once`.
    `max_runs` and `until` None mean no end, `pause_after` 0 never. `nudge_s` after the message the agent is
    asked for its verdict, at `deadline_s` it is missing. `order`: the message is a work order. `script` names
    the gate that is asked before each run (T-78).
    """

    schedule: str
    schedule_type: Kind
    tz: str
    prompt: str
    start: str | None = None
    every_ms: int | None = None
    thread: str | None = None
    context_mode: ContextMode = ContextMode.GROUP
    misfire: Misfire = Misfire.SKIP
    overlap: Overlap = Overlap.SKIP
    jitter_s: int = 0
    max_runs: int | None = None
    until: str | None = None
    pause_after: int = 5
    nudge_s: int = 15 * 60
    deadline_s: int = 30 * 60
    order: bool = False
    script: str | None = None

    def to_json(self) -> dict[str, Any]:
        """All fields."""
        return {
            key: str(value) if isinstance(value, StrEnum) else value for key, value in asdict(self).items()
        }

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Plan:
        """The inverse of `to_json`."""
        read: dict[str, Any] = {
            key: _ENUMS[key](value) if key in _ENUMS else value for key, value in body.items()
        }
        return cls(**read)

    def timing(self) -> Schedule:
        """The schedule, to be asked for times."""
        if self.schedule_type is Kind.CRON:
            return Cron(self.schedule, self.tz)
        start = datetime.fromisoformat(self.start or "")
        return Once(start) if self.every_ms is None else Every(timedelta(milliseconds=self.every_ms), start)


_ENUMS: Final[Mapping[str, Callable[[str], StrEnum]]] = MappingProxyType(
    {"schedule_type": Kind, "misfire": Misfire, "overlap": Overlap, "context_mode": ContextMode}
)


def timing_fields(schedule: Schedule, written: str) -> dict[str, Any]:
    """The fields of a plan that keep `schedule`, which was read from `written`."""
    match schedule:
        case Cron(expression):
            return {"schedule": expression, "schedule_type": Kind.CRON, "start": None, "every_ms": None}
        case Every(every, anchor):
            every_ms = every // timedelta(milliseconds=1)
            shown = {"schedule": written.strip(), "schedule_type": Kind.INTERVAL}
            return shown | {"start": iso(anchor), "every_ms": every_ms}
        case Once(at):
            return {
                "schedule": written.strip(),
                "schedule_type": Kind.ONCE,
                "start": iso(at),
                "every_ms": None,
            }
