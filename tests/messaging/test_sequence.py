"""Events put in order (M-55, M-62)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from messaging import EventSequence
from tests.messaging._events import story

STORY = story(6)


def numbers(sequence: EventSequence, now_s: float = 0.0) -> list[int]:
    return [one.seq for one in sequence.ready(now_s)]


@given(st.lists(st.integers(0, 5), max_size=12).flatmap(lambda more: st.permutations([*range(6), *more])))
def test_in_any_order_and_doubled_each_comes_out_once_and_in_order(arrivals: list[int]) -> None:  # M-62
    sequence, told = EventSequence(), list[int]()
    for number in arrivals:
        sequence.feed(STORY[number], 0.0)
        told += numbers(sequence)
    assert told == list(range(6))
    assert sequence.ended
    assert not sequence.incomplete


def test_a_gap_holds_back_what_comes_after_it() -> None:  # M-55
    sequence = EventSequence(patience_s=30)
    sequence.feed(STORY[0], 0.0)
    sequence.feed(STORY[2], 1.0)
    assert numbers(sequence, 30.9) == [0]
    sequence.feed(STORY[1], 30.95)
    assert numbers(sequence, 30.95) == [1, 2]
    assert not sequence.incomplete


def test_a_gap_that_stays_makes_the_job_incomplete_and_its_end_is_told() -> None:  # M-55
    sequence = EventSequence(patience_s=30)
    for number in (0, 2, 5):
        sequence.feed(STORY[number], 1.0)
    assert numbers(sequence, 30.9) == [0]
    assert numbers(sequence, 31.0) == [2, 5]
    assert sequence.incomplete
    assert sequence.ended
    sequence.feed(STORY[1], 32.0)
    assert numbers(sequence, 99.0) == []


def test_reading_goes_on_behind_a_number() -> None:  # M-63
    sequence = EventSequence(after=3)
    for one in STORY:
        sequence.feed(one, 0.0)
    assert numbers(sequence) == [4, 5]
