"""When a delivery is tried again (M-38 to M-41)."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from messaging.sinks import Retries
from messaging.sinks.retry import Verdict, retry_after_s, verdict
from messaging.sinks.selection import attempts

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def most(_low: float, high: float) -> float:
    return high


def test_the_longest_pauses_double_up_to_the_cap() -> None:  # M-39
    retries = Retries(attempts=100)
    assert [retries.wait_s(failed, None, most) for failed in (1, 2, 3, 4)] == [0.2, 0.4, 0.8, 1.6]
    assert retries.wait_s(99, None, most) == 10.0


def test_the_pause_is_any_part_of_that() -> None:  # M-39
    asked: list[tuple[float, float]] = []

    def note(low: float, high: float) -> float:
        asked.append((low, high))
        return 0.1

    assert Retries().wait_s(1, None, note) == 0.1
    assert asked == [(0.0, 0.2)]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("3", 3),
        ("1", 1),
        ("7", 7),
        ("0", 3),
        ("-1", 3),
        ("x", 3),
        ("", 3),
        ("2.5", 3),
        ("9" * 30, 3),
        ("9999", 1000),
    ],
)
def test_a_number_of_attempts_that_is_none_counts_as_three(text: str, number: int) -> None:  # M-38
    assert attempts(text) == number


def test_a_pause_that_is_asked_for_is_kept_unless_it_is_too_long() -> None:  # M-39
    assert Retries().wait_s(1, 5.0, most) == 5.0
    assert Retries().wait_s(1, 0.0, most) == 0.2
    assert Retries().wait_s(1, 61.0, most) is None


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120.0),
        (" 1 ", 1.0),
        ("Mon, 30 Nov 2026 12:00:30 GMT", 30.0),
        ("Mon, 30 Nov 2026 11:00:00 GMT", 0.0),
        ("Mon, 30 Nov 2026 12:00:30 -0000", 30.0),
        (None, None),
        ("", None),
        ("soon", None),
        ("-5", None),
        ("1.5", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(value: str | None, seconds: float | None) -> None:  # M-39
    assert retry_after_s(value, NOW) == seconds


@pytest.mark.parametrize(
    ("status", "meaning"),
    [(200, Verdict.DELIVERED), (202, Verdict.DELIVERED), (204, Verdict.DELIVERED), (307, Verdict.AGAIN)]
    + [(status, Verdict.AGAIN) for status in (408, 425, 429, 500, 502, 503, 504)]
    + [(status, Verdict.REFUSED) for status in (400, 401, 403, 404, 405, 409, 410, 413, 422)],
)
def test_each_status_has_its_meaning(status: int, meaning: Verdict) -> None:  # M-40, M-41
    assert verdict(status) is meaning
