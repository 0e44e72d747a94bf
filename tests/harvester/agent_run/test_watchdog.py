"""When an agent is stopped, on a clock that the test sets (A-06, J-27)."""

from __future__ import annotations

from harvester.adapters import FailureKind
from harvester.agent_run import Limits
from harvester.agent_run.watchdog import Watchdog

LIMITS = Limits(stall_s=600, wall_s=3600, linger_s=10, ready_s=10)


def due(dog: Watchdog, now: float) -> FailureKind | None:
    found = dog.due(now)
    return found.kind if found else None


def heard(dog: Watchdog, now: float, *, ready: bool = False, over: bool = False) -> None:
    dog.heard(now, ready=ready, turn_is_over=over)


def test_silence_counts_from_the_last_word() -> None:
    dog = Watchdog(LIMITS, 0, wants_ready=False)
    heard(dog, 500)
    assert (due(dog, 1099), due(dog, 1100)) == (None, FailureKind.STALLED)


def test_the_wall_clock_counts_from_the_start_and_stands_first() -> None:
    dog = Watchdog(LIMITS, 0, wants_ready=False)
    heard(dog, 3599)
    assert (due(dog, 3599), due(dog, 3600)) == (None, FailureKind.TIMED_OUT)


def test_after_the_last_turn_there_are_ten_seconds_whatever_is_printed() -> None:
    dog = Watchdog(LIMITS, 0, wants_ready=False)
    heard(dog, 100, over=True)
    heard(dog, 109, over=True)
    assert (due(dog, 109), due(dog, 110)) == (None, FailureKind.STALLED)


def test_another_turn_takes_the_ten_seconds_back() -> None:
    dog = Watchdog(LIMITS, 0, wants_ready=False)
    heard(dog, 100, over=True)
    heard(dog, 105)
    assert due(dog, 200) is None


def test_an_introduction_is_waited_for_ten_seconds() -> None:
    dog = Watchdog(LIMITS, 0, wants_ready=True)
    assert (due(dog, 9), due(dog, 10)) == (None, FailureKind.ENVELOPE_REQUIRED)
    heard(dog, 9, ready=True)
    assert due(dog, 10) is None


def test_nothing_is_due_before_the_time_to_wait_is_over() -> None:
    dog = Watchdog(LIMITS, 0, wants_ready=True)
    assert dog.wait_s(4) == 6
    assert dog.wait_s(99) == 0
