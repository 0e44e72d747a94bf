"""When a timer is due: pure arithmetic, the clock passed in (T-61, T-68, O 7.7).

Three kinds of schedule. All moments are in UTC; a zone stands with the schedule, so that nothing shifts when
the machine's own zone changes.

Clock changes, for a cron schedule:
1. Fixed times (minute and hour both written as numbers) follow the clock on the wall. A time that the clock
   skips runs once, right after the change; one that it shows twice runs once, the first time. Two skipped
   times, or a skipped one and one that is due right after the change, are one run.
2. Where minute or hour begins with `*`, it follows elapsed time: every ten minutes stay ten minutes apart.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Final, TypeAlias
from zoneinfo import ZoneInfo

from cronsim import CronSim

from exec_daemon.timers.zones import zone

# Pacific/Apia skipped a whole day, and nobody ever more.
_LONGEST_SKIP_S: Final = 2 * 86_400


@dataclass(frozen=True, slots=True)
class Cron:
    """Five fields, in the zone named `tz`."""

    expression: str
    tz: str

    def after(self, moment: datetime) -> datetime | None:
        """The first time that is later than `moment`."""
        where = zone(self.tz)
        # cronsim goes by the clock on the wall. Where that shows an hour for the second time, it begins with
        # times that have passed.
        found = (time.astimezone(UTC) for time in CronSim(self.expression, moment.astimezone(where)))
        return next((time for time in found if time > moment), None)


@dataclass(frozen=True, slots=True)
class Every:
    """Each `every` from `anchor` on: a late run moves none of those that follow (T-68)."""

    every: timedelta
    anchor: datetime

    def after(self, moment: datetime) -> datetime:
        """The first time that is later than `moment`; the anchor itself is none."""
        return self.anchor + self.every * max(1, (moment - self.anchor) // self.every + 1)


@dataclass(frozen=True, slots=True)
class Once:
    """One time."""

    at: datetime

    def after(self, moment: datetime) -> datetime | None:
        """The time, while it is still to come."""
        return self.at if self.at > moment else None


Schedule: TypeAlias = Cron | Every | Once


def times(schedule: Schedule, after: datetime) -> Iterator[datetime]:
    """The times later than `after`, in order; without end for most schedules."""
    found = schedule.after(after)
    while found is not None:
        yield found
        found = schedule.after(found)


def following(schedule: Schedule, after: datetime, count: int) -> list[datetime]:
    """The next `count` times, fewer where there are no more."""
    return list(islice(times(schedule, after), count))


def first_of(wall: datetime, tz: str) -> datetime:
    """When a clock in `tz` first shows `wall` (without a zone); right after the change where it skips it."""
    where = zone(tz)
    moment = wall.replace(tzinfo=where, fold=0).astimezone(UTC)
    if moment.astimezone(where).replace(tzinfo=None, fold=0) == wall:
        return moment
    # Before a skipped time the old offset holds, which puts it after the change; look back for the change.
    return _change_before(moment, where)


def _change_before(moment: datetime, where: ZoneInfo) -> datetime:
    """The last change of the clock at or before `moment`, to the second."""

    def at(second: int) -> datetime:
        return moment - timedelta(seconds=_LONGEST_SKIP_S - second)

    def changed(second: int) -> bool:
        return at(second).astimezone(where).utcoffset() == moment.astimezone(where).utcoffset()

    return at(bisect_left(range(_LONGEST_SKIP_S), 1, key=changed))
