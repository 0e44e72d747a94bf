"""Ids: of their time, each another."""

from __future__ import annotations

import re
import time

from exec_daemon.store import random_id
from exec_daemon.store.sources import _READY_AT_ONCE


def test_an_id_is_a_word_of_its_kind_and_fits_the_api() -> None:  # O 7.1
    assert re.fullmatch(r"job-[0-9a-f]{24}", random_id("job"))


def test_no_two_are_the_same() -> None:
    made = [random_id("job") for _ in range(5 * _READY_AT_ONCE)]
    assert len(set(made)) == len(made)


def test_later_ones_come_after_earlier_ones_whatever_was_made_between() -> None:
    made: list[str] = []
    for _ in range(3):  # those that are ready are of the time at which they were made ready
        for _ in range(_READY_AT_ONCE // 2):
            made.append(random_id("job"))
            random_id("call")
        time.sleep(0.003)
    assert made == sorted(made)
