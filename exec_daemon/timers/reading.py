"""From what somebody wrote to a schedule (T-61): tables and shapes, and a sentence for what is wrong."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from cronsim import CronSim, CronSimError

from exec_daemon.timers.schedule import Cron, Every, Once, Schedule, first_of
from exec_daemon.timers.zones import zone

# O 7.7 and what every cron knows besides.
NICKNAMES: Final = MappingProxyType(
    {
        "@hourly": "0 * * * *",
        "@daily": "0 0 * * *",
        "@midnight": "0 0 * * *",
        "@weekly": "0 0 * * 0",
        "@monthly": "0 0 1 * *",
        "@yearly": "0 0 1 1 *",
        "@annually": "0 0 1 1 *",
    }
)
_UNITS: Final = MappingProxyType({"ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000})
_INTERVAL: Final = re.compile(r"(?:every\s+)?(?:(\d{1,15})|((?:\d{1,9}\s*(?:ms|[smhd])\s*)+))", re.ASCII)
_PART: Final = re.compile(r"(\d+)\s*(ms|[smhd])", re.ASCII)
_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\d.*", re.ASCII)

# An agent that is woken more often is not woken, it runs.
LEAST_EVERY: Final = timedelta(seconds=1)
MOST_EVERY: Final = timedelta(days=366 * 5)


class ScheduleError(ValueError):
    """The message says what is wrong and shows how it is written."""


class Kind(StrEnum):
    """What a schedule is; `schedule_type` of the op."""

    CRON = "cron"
    INTERVAL = "interval"
    ONCE = "once"


def kind_of(text: str) -> Kind:
    """The kind that a schedule is of by its looks; no text has the shape of two."""
    if _INTERVAL.fullmatch(text.strip().lower()):
        return Kind.INTERVAL
    return Kind.ONCE if _MOMENT.fullmatch(text.strip()) else Kind.CRON


def read_schedule(text: str, kind: Kind | None, *, tz: str, now: datetime) -> Schedule:
    """The schedule; `now` anchors an interval and is what a time has to lie behind.

    Raises `ScheduleError`, and `UnknownZoneError` for the zone.
    """
    zone(tz)
    schedule = _READERS[kind or kind_of(text)](text.strip(), tz, now)
    if schedule.after(now) is None:
        raise ScheduleError(
            f"{text.strip()!r} lies in the past or never comes; name a time that is still to come"
        )
    return schedule


def _cron(text: str, tz: str, _now: datetime) -> Cron:
    expression = " ".join(NICKNAMES.get(text.lower(), text).split())
    if (wrong := _wrong_cron(expression)) is not None:
        raise ScheduleError(
            f"{text[:64]!r} is no cron schedule ({wrong}); write minute hour day month weekday, such as "
            "`30 7 * * 1-5`, or @hourly, @daily, @weekly, @monthly"
        )
    return Cron(expression, tz)


def _wrong_cron(expression: str) -> str | None:
    if expression.count(" ") != 4:
        return "it needs five fields"
    try:
        CronSim(expression, datetime(2026, 1, 1, tzinfo=UTC))
    except CronSimError as wrong:
        return str(wrong).lower()
    return None


def _every(text: str, _tz: str, now: datetime) -> Every:
    shape = _INTERVAL.fullmatch(text.lower())
    if shape is None:
        raise ScheduleError(f"{text[:64]!r} is no interval; write 90s, 5m, 1h30m or milliseconds")
    whole, parts = shape.groups()
    amount = int(whole) if whole else sum(int(n) * _UNITS[unit] for n, unit in _PART.findall(parts))
    every = timedelta(milliseconds=min(amount, 10**14))
    if not LEAST_EVERY <= every <= MOST_EVERY:
        raise ScheduleError(f"{text[:64]!r}: an interval lasts from a second to five years")
    return Every(every, now)


def _once(text: str, tz: str, _now: datetime) -> Once:
    try:
        written = datetime.fromisoformat(text)
    except ValueError:
        raise ScheduleError(
            f"{text[:64]!r} is no time; write 2026-12-01T09:00 (in the timer's zone), or with an offset"
        ) from None
    try:
        moment = written.astimezone(UTC) if written.tzinfo else first_of(written, tz)
    except OverflowError:
        raise ScheduleError(f"{text[:64]!r} is beyond the calendar") from None
    return Once(moment)


_READERS: Final[Mapping[Kind, Callable[[str, str, datetime], Schedule]]] = MappingProxyType(
    {Kind.CRON: _cron, Kind.INTERVAL: _every, Kind.ONCE: _once}
)
