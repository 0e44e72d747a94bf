"""When a timer is due, against an independent computation over years of clock changes."""

from __future__ import annotations

import random
from bisect import bisect_left
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import accumulate, takewhile
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exec_daemon.timers.schedule import Cron, Every, Once, first_of, following, times

# Half hours (Lord Howe), changes at midnight (Cairo, Beirut, Santiago), two hours (Troll), Ramadan
# (Casablanca), a day that never was (Apia), changes by law and not by rule (Moscow, Pyongyang).
ZONES = """
    Europe/Berlin America/New_York America/Los_Angeles Australia/Lord_Howe Africa/Cairo Asia/Beirut
    America/Santiago Antarctica/Troll Africa/Casablanca Pacific/Apia Europe/Moscow Asia/Pyongyang Asia/Kolkata
    America/Sao_Paulo Pacific/Chatham UTC
""".split()
MINUTE = timedelta(minutes=1)


@cache
def changes(zone: str) -> tuple[datetime, ...]:
    """Hours of 2011 to 2030 in which the offset of the zone changes."""
    where, hour = ZoneInfo(zone), datetime(2011, 1, 1, tzinfo=UTC)
    found = []
    offset = hour.astimezone(where).utcoffset()
    while hour.year < 2031:
        hour += timedelta(hours=6)
        if (now := hour.astimezone(where).utcoffset()) != offset:
            found.append(hour)
            offset = now
    return tuple(found)


def field(text: str, low: int, high: int) -> set[int]:
    """The values of a cron field of `*`, `*/n`, numbers, ranges and lists."""
    values: set[int] = set()
    for part in text.split(","):
        span, _, step = part.partition("/")
        first, _, last = span.partition("-")
        ends = (low, high) if span == "*" else (int(first), int(last or first))
        values |= set(range(ends[0], ends[1] + 1, int(step or 1)))
    return values


Match = Callable[[datetime], bool]


def match(expression: str) -> Match:
    minute, hour, day, month, weekday = expression.split()
    fields = [field(minute, 0, 59), field(hour, 0, 23), field(month, 1, 12), field(day, 1, 31)]
    minutes, hours, months, days = fields
    weekdays = {one % 7 for one in field(weekday, 0, 7)}
    either = not day.startswith("*") and not weekday.startswith("*")

    def matches(wall: datetime) -> bool:
        if wall.minute not in minutes or wall.hour not in hours or wall.month not in months:
            return False
        both = (wall.day in days, wall.isoweekday() % 7 in weekdays)
        return any(both) if either else all(both)

    return matches


Shown = tuple[datetime, datetime, list[datetime], bool]


def shown(zone: str, start: datetime, end: datetime) -> list[Shown]:
    """Every minute with what the clock shows then, what it skipped before, and whether it shows it again."""
    where, minute = ZoneInfo(zone), start
    rows, seen = list[Shown](), set[datetime]()
    before = (start - MINUTE).astimezone(where).replace(tzinfo=None)
    while minute < end:
        wall = minute.astimezone(where).replace(tzinfo=None, fold=0)
        skipped = [before + MINUTE * n for n in range(1, max(1, (wall - before) // MINUTE))]
        rows.append((minute, wall, skipped, wall in seen))
        seen |= {wall, *skipped}
        before, minute = wall, minute + MINUTE
    return rows


def brute(expression: str, rows: list[Shown]) -> list[datetime]:
    matches = match(expression)
    if any(part.startswith("*") for part in expression.split()[:2]):
        return [minute for minute, wall, _, _ in rows if matches(wall)]
    return [
        minute
        for minute, wall, skipped, again in rows
        if (matches(wall) and not again) or any(map(matches, skipped))
    ]


def expression(draw: random.Random) -> str:
    minute = draw.choice(["0", "30", "15,45", "*/15", "*/7", "59", "0-10/5", "*"])
    hour = draw.choice(["*", "0", "1", "2", "3", "23", "0-3", "1,2", "*/2", "2-4/2"])
    day = draw.choice(["*", "*", "*", "1-7", "*/2", "28,29,30,31"])
    weekday = draw.choice(["*", "*", "0", "7", "1-5", "6,0"])
    return f"{minute} {hour} {day} {draw.choice(['*', '*', '3-4,9-11'])} {weekday}"


@pytest.mark.parametrize("zone", ZONES)
def test_a_cron_schedule_is_due_when_the_clock_on_the_wall_says_so(zone: str) -> None:  # T-61, O 7.7
    """Around every change of the clock from 2011 to 2030, and on a quiet day."""
    draw = random.Random(zone)
    for change in (*changes(zone), datetime(2026, 7, 14, 9, tzinfo=UTC)):
        start, end = change - timedelta(hours=8), change + timedelta(hours=26)
        # What is shown for the second time may have been shown before the window begins.
        rows = shown(zone, start - timedelta(hours=4), end)
        for written in {expression(draw) for _ in range(2)}:
            wanted = [one for one in brute(written, rows) if one > start]
            found = takewhile(end.__gt__, times(Cron(written, zone), start))
            assert list(found) == wanted, (written, zone, start)


@given(st.sampled_from(ZONES), st.integers(0, 10**6), st.integers(0, 20 * 365 * 1440))
def test_the_next_time_is_later_and_does_not_depend_on_where_one_starts(
    zone: str, seed: int, minutes: int
) -> None:  # T-69
    schedule = Cron(expression(random.Random(seed)), zone)
    start = datetime(2010, 1, 1, tzinfo=UTC) + MINUTE * minutes
    due = schedule.after(start)
    assert due is not None
    assert due > start
    between = start + (due - start) / 2
    assert schedule.after(between) == due


def test_a_skipped_time_runs_once_right_after_and_a_repeated_one_once() -> None:  # O 7.7
    daily = Cron("30 2 * * *", "Europe/Berlin")
    spring = following(daily, datetime(2026, 3, 28, 12, tzinfo=UTC), 2)
    autumn = following(daily, datetime(2026, 10, 24, 12, tzinfo=UTC), 2)
    assert [one.isoformat() for one in spring] == ["2026-03-29T01:00:00+00:00", "2026-03-30T00:30:00+00:00"]
    assert [one.isoformat() for one in autumn] == ["2026-10-25T00:30:00+00:00", "2026-10-26T01:30:00+00:00"]


def test_two_skipped_times_are_one_run() -> None:
    both = Cron("0,30 2 * * *", "Europe/Berlin")
    assert [one.hour for one in following(both, datetime(2026, 3, 28, 12, tzinfo=UTC), 2)] == [1, 0]


@given(st.integers(1, 10**7), st.integers(0, 10**9))
def test_an_interval_counts_from_its_anchor_however_late_one_asks(seconds: int, later: int) -> None:  # T-68
    anchor = datetime(2026, 1, 1, tzinfo=UTC)
    every = Every(timedelta(seconds=seconds), anchor)
    due = every.after(anchor + timedelta(seconds=later))
    assert due > anchor + timedelta(seconds=later)
    assert (due - anchor) % every.every == timedelta()
    assert due - every.every <= anchor + timedelta(seconds=later)


def test_once_is_due_once() -> None:
    at = datetime(2026, 12, 1, 9, tzinfo=UTC)
    assert following(Once(at), at - MINUTE, 3) == [at]
    assert Once(at).after(at) is None


@pytest.mark.parametrize("zone", ZONES)
def test_the_first_moment_of_a_time_on_the_wall_is_found_by_looking_at_every_minute(zone: str) -> None:
    where = ZoneInfo(zone)
    for change in changes(zone)[::4]:
        start = change - timedelta(hours=30)
        minutes = [start + MINUTE * n for n in range(60 * 60)]
        walls = [one.astimezone(where).replace(tzinfo=None, fold=0) for one in minutes]
        reached = list(accumulate(walls, max))
        for wall in (walls[600] + timedelta(minutes=n) for n in range(0, 40 * 60, 20)):
            wanted = minutes[bisect_left(reached, wall)]
            assert first_of(wall, zone) == wanted
