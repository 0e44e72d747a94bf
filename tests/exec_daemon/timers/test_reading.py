"""From what somebody wrote to a schedule, and the sentence for what is none."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from exec_daemon.timers.reading import NICKNAMES, Kind, ScheduleError, kind_of, read_schedule
from exec_daemon.timers.schedule import Cron, Every, Once
from exec_daemon.timers.zones import UnknownZoneError, host_zone, zone

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "schedule"),
    [
        ("30 7 * * 1-5", Cron("30 7 * * 1-5", "Europe/Berlin")),
        ("  30  7 * *   MON-FRI ", Cron("30 7 * * MON-FRI", "Europe/Berlin")),
        ("@Daily", Cron("0 0 * * *", "Europe/Berlin")),
        ("5m", Every(timedelta(minutes=5), NOW)),
        ("every 1h30m", Every(timedelta(minutes=90), NOW)),
        ("60000", Every(timedelta(minutes=1), NOW)),
        ("1 d", Every(timedelta(days=1), NOW)),
        ("2026-12-01T09:00", Once(datetime(2026, 12, 1, 8, tzinfo=UTC))),
        ("2026-12-01T09:00+05:30", Once(datetime(2026, 12, 1, 3, 30, tzinfo=UTC))),
        ("2026-12-01 09:00:30Z", Once(datetime(2026, 12, 1, 9, 0, 30, tzinfo=UTC))),
        ("2027-03-28T02:30", Once(datetime(2027, 3, 28, 1, tzinfo=UTC))),  # skipped there: right after
        ("2027-10-31T02:30", Once(datetime(2027, 10, 31, 0, 30, tzinfo=UTC))),  # shown twice: the first
    ],
)
def test_a_schedule_is_told_by_its_looks(text: str, schedule: object) -> None:  # T-61
    assert read_schedule(text, None, tz="Europe/Berlin", now=NOW) == schedule
    assert read_schedule(text, kind_of(text), tz="Europe/Berlin", now=NOW) == schedule


@pytest.mark.parametrize("name", NICKNAMES)
def test_a_nickname_is_a_cron_schedule(name: str) -> None:  # O 7.7
    assert isinstance(read_schedule(name, None, tz="UTC", now=NOW), Cron)


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        ("* * * *", None, "it needs five fields"),
        ("* * * * * *", None, "it needs five fields"),
        ("61 * * * *", None, "bad minute"),
        ("0 0 30 2 *", None, "bad day-of-month"),
        ("soon", None, "it needs five fields"),
        ("", None, "it needs five fields"),
        ("0", None, "from a second to five years"),
        ("500ms", None, "from a second to five years"),
        ("9999999d", None, "from a second to five years"),
        ("5m", Kind.CRON, "it needs five fields"),
        ("5 minutes", Kind.INTERVAL, "is no interval"),
        ("\uff15m", Kind.INTERVAL, "is no interval"),
        ("\u0665", None, "it needs five fields"),
        ("-5", Kind.INTERVAL, "is no interval"),
        ("1.5", Kind.INTERVAL, "is no interval"),
        ("2026-02-30T09:00", None, "is no time"),
        ("tomorrow", Kind.ONCE, "is no time"),
        ("2026-11-30T12:00Z", None, "past"),
        ("0001-01-01T00:00", None, "past|beyond"),
        ("9999-12-31T23:59-12:00", None, "beyond the calendar"),
    ],
)
def test_what_is_no_schedule_is_refused_with_a_reason(
    text: str, kind: Kind | None, said: str
) -> None:  # T-61
    with pytest.raises(ScheduleError, match=said):
        read_schedule(text, kind, tz="Europe/Berlin", now=NOW)


@pytest.mark.parametrize(
    "name", ["Berlin", "Europe/Belrin", "Europe", "right/UTC", "../etc/passwd", "", "x" * 999]
)
def test_a_zone_that_nobody_knows_is_an_error_and_never_utc(name: str) -> None:  # T-20
    with pytest.raises(UnknownZoneError, match="there is no time zone"):
        zone(name)


def test_a_city_is_met_with_its_zone() -> None:
    with pytest.raises(UnknownZoneError, match="Europe/Berlin"):
        zone("Berlin")


def test_a_machine_without_zone_data_is_told_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("exec_daemon.timers.zones.available_timezones", set)
    with pytest.raises(UnknownZoneError, match="apt install tzdata"):
        zone("No/Such")


def test_the_zone_of_the_machine_is_read_from_tz_or_localtime(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = tmp_path / "localtime"
    link.symlink_to("/usr/share/zoneinfo/America/New_York")
    monkeypatch.delenv("TZ", raising=False)
    assert host_zone(link) == "America/New_York"
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    assert host_zone(link) == "Asia/Kolkata"
    monkeypatch.setenv("TZ", "no zone")
    assert host_zone(tmp_path / "none") == "UTC"
