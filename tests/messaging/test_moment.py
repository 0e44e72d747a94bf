"""One shape for every moment, and names that may have been meant."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from messaging.moment import iso
from messaging.near import did_you_mean, near


@pytest.mark.parametrize(
    ("moment", "written"),
    [
        (datetime(2026, 12, 1, 9, tzinfo=UTC), "2026-12-01T09:00:00.000Z"),
        (datetime(2026, 12, 1, 9, 0, 0, 999_999, tzinfo=UTC), "2026-12-01T09:00:00.999Z"),
        (datetime(2026, 12, 1, 0, 30, tzinfo=timezone(timedelta(hours=1))), "2026-11-30T23:30:00.000Z"),
    ],
)
def test_a_moment_is_written_in_utc_with_milliseconds(moment: datetime, written: str) -> None:  # M-03
    assert iso(moment) == written


def test_a_misspelt_name_is_met_with_what_may_have_been_meant() -> None:  # O-13
    assert near("DM.sned", ["dm.read", "dm.send", "cron.list"]) == ["dm.send", "dm.read"]
    assert did_you_mean(["dm.send", "dm.read"]) == " Did you mean dm.send or dm.read?"
    assert did_you_mean([]) == ""


def test_a_word_of_any_length_is_compared_only_so_far() -> None:
    assert near("dm.send" + "x" * 1_000_000, ["dm.send"]) == []
    assert near("a" * 1_000_000, ["a" * 64]) == ["a" * 64]
