"""Who looks on may be slow, stand still or leave: nothing waits for them (J-28, J-32)."""

from __future__ import annotations

import threading

import pytest

from harvester.agent_run import Audience
from harvester.agent_run.audience import MOST_WAITING
from tests.patience import until


def lagged(first: int, last: int) -> str:
    return f"lagged {first} to {last}"


def test_everything_is_shown_in_order_to_who_reads() -> None:
    seen: list[str] = []
    with Audience(seen.append, lagged) as audience:
        for number in range(100):
            audience.show(str(number))
    assert seen == [str(number) for number in range(100)]


def test_a_reader_that_leaves_is_not_written_to_again_and_nobody_notices() -> None:
    written: list[str] = []

    def write(text: str) -> None:
        written.append(text)
        raise BrokenPipeError

    with Audience(write, lagged) as audience:
        for number in range(10 * MOST_WAITING):
            audience.show(str(number))
    assert written == ["0"]


def test_a_reader_that_stands_still_misses_events_and_is_told_how_many() -> None:
    seen: list[str] = []
    go_on, stands = threading.Event(), threading.Event()

    def write(text: str) -> None:
        stands.set()
        go_on.wait()
        seen.append(text)

    with Audience(write, lagged) as audience:
        audience.show("first")
        stands.wait()  # the writer has taken it, so the queue is empty
        for number in range(MOST_WAITING + 7):
            audience.show(str(number))
        go_on.set()
        until(lambda: len(seen) >= MOST_WAITING)
        audience.show("last")
    assert seen[-2:] == [f"lagged {MOST_WAITING + 1} to {MOST_WAITING + 7}", "last"]
    assert len(seen) == 1 + MOST_WAITING + 2


def test_what_must_not_be_missed_waits_for_the_reader_and_names_what_was() -> None:
    seen: list[str] = []
    go_on, stands = threading.Event(), threading.Event()

    def write(text: str) -> None:
        stands.set()
        go_on.wait()
        seen.append(text)

    with Audience(write, lagged) as audience:
        audience.show("first")
        stands.wait()
        for number in range(MOST_WAITING + 3):
            audience.show(str(number))
        threading.Timer(0, go_on.set).start()
        audience.tell("outcome")
    assert seen[-2:] == [f"lagged {MOST_WAITING + 1} to {MOST_WAITING + 3}", "outcome"]


def test_after_a_fault_a_reader_that_stands_still_is_left_behind() -> None:
    go_on = threading.Event()

    def interrupted() -> None:
        with Audience(lambda _text: go_on.wait(), lagged) as audience:
            audience.show("first")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    go_on.set()
