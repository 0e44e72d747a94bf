"""Token buckets, on a clock that the tests turn."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from exec_daemon.access import rates
from exec_daemon.access.rates import Buckets, Want


class Hands:
    """A clock that stands until it is turned."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_full_bucket_gives_its_minute_at_once_and_then_says_how_long_to_wait() -> None:  # O-85
    buckets = Buckets(Hands())
    want = [Want("heron>wren", 30)]
    assert [buckets.take(want) for _ in range(30)] == [0.0] * 30
    assert buckets.take(want) == 2.0


def test_after_the_wait_there_is_a_token_again() -> None:
    clock = Hands()
    buckets, want = Buckets(clock), [Want("a", 6)]
    while not (wait_s := buckets.take(want)):
        pass
    clock.now += wait_s
    assert buckets.take(want) == 0.0
    assert buckets.take(want) > 0


def test_no_limit_is_no_limit() -> None:
    buckets = Buckets(Hands())
    assert {buckets.take([Want("a", 0)]) for _ in range(1000)} == {0.0}


def test_all_tokens_are_taken_or_none() -> None:
    buckets = Buckets(Hands())
    plenty, single = Want("plenty", 5), Want("single", 1)
    assert buckets.take([plenty, single]) == 0.0
    assert [buckets.take([plenty, single]) > 0 for _ in range(9)] == [True] * 9
    assert [buckets.take([plenty]) for _ in range(4)] == [0.0] * 4


def test_buckets_of_different_keys_know_nothing_of_each_other() -> None:
    buckets = Buckets(Hands())
    assert buckets.take([Want("a", 1)]) == buckets.take([Want("b", 1)]) == 0.0


def test_memory_is_bounded_by_dropping_buckets_that_are_full_again() -> None:
    clock = Hands()
    buckets = Buckets(clock)
    for number in range(3 * rates._MOST_BUCKETS):
        buckets.take([Want(f"k{number}", 60)])
        clock.now += 0.01
    assert len(buckets._buckets) <= rates._MOST_BUCKETS


@given(st.lists(st.floats(0, 120), max_size=60), st.integers(1, 100))
def test_no_more_passes_than_the_rate_and_one_full_bucket(pauses: list[float], per_min: int) -> None:
    clock = Hands()
    buckets, taken = Buckets(clock), 0
    for pause in pauses:
        clock.now += pause
        taken += buckets.take([Want("a", per_min)]) == 0.0
    assert taken <= per_min + clock.now * per_min / 60 + 1e-6
