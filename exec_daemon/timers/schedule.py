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

from cronsim import CronSim  # knows walls only here: what clocks skip and repeat is this module's own

from exec_daemon.timers.zones import zone

# Pacific/Apia skipped a whole day, and nobody ever more.
_LONGEST_SKIP_S: Final = 2 * 86_400


@dataclass(frozen=True, slots=True)
class Cron:
    """Five fields, in the zone named `tz`."""

    expression: str
    tz: str

    @property
    def elapsed(self) -> bool:
        """Does it follow elapsed time, and not the clock on the wall? Rules 1 and 2."""
        minute, hour, *_ = self.expression.split()
        return minute.startswith("*") or hour.startswith("*")

    def after(self, moment: datetime) -> datetime | None:
        """The first time that is later than `moment`."""
        return _elapsed(self, moment) if self.elapsed else _on_the_wall(self, moment)


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


def _on_the_wall(cron: Cron, moment: datetime) -> datetime | None:
    """Rule 1. Right after the clock was put back the walls begin with times that have been shown before."""
    shown = moment.astimezone(zone(cron.tz)).replace(tzinfo=None)
    found = (first_of(wall, cron.tz) for wall in CronSim(cron.expression, shown))
    return next((one for one in found if one > moment), None)


def _elapsed(cron: Cron, moment: datetime) -> datetime | None:
    """Rule 2: the first moment at which a clock shows one of the times, be it again."""
    where = zone(cron.tz)
    shown = moment.astimezone(where)
    # Before the clock is put back, times that it shows again afterwards lie behind on the wall.
    put_back = max(_offset(moment, where) - _offset(moment + timedelta(days=1), where), timedelta())
    best: datetime | None = None
    for wall in CronSim(cron.expression, shown.replace(tzinfo=None) - put_back):
        if best is not None and first_of(wall, cron.tz) > best:
            break
        best = min((one for one in (best, *_moments_of(wall, where)) if one and one > moment), default=None)
    return best


def _offset(moment: datetime, where: ZoneInfo) -> timedelta:
    return moment.astimezone(where).utcoffset() or timedelta()


def _moments_of(wall: datetime, where: ZoneInfo) -> Iterator[datetime]:
    """When a clock shows `wall`: once, twice, or never."""
    for fold in (0, 1):
        moment = wall.replace(tzinfo=where, fold=fold).astimezone(UTC)
        if moment.astimezone(where).replace(tzinfo=None) == wall:
            yield moment


def first_of(wall: datetime, tz: str) -> datetime:
    """When a clock in `tz` first shows `wall` (without a zone); right after the change where it skips it."""
    where = zone(tz)
    shown = next(_moments_of(wall, where), None)
    # Taken with the offset of before the change, a skipped time lies behind it.
    return shown or _change_before(wall.replace(tzinfo=where, fold=0).astimezone(UTC), where)


def _change_before(moment: datetime, where: ZoneInfo) -> datetime:
    """The last change of the clock at or before `moment`, to the second."""

    def at(second: int) -> datetime:
        return moment - timedelta(seconds=_LONGEST_SKIP_S - second)

    def changed(second: int) -> bool:
        return _offset(at(second), where) == _offset(moment, where)

    return at(bisect_left(range(_LONGEST_SKIP_S), 1, key=changed))
