"""The scanner and the oracle read the same into the same texts (more: python -m tests.oracle.compare)."""

from __future__ import annotations

import pytest

from tests.oracle.compare import case_texts, compare
from tests.oracle.shrink import smallest
from tests.oracle.subject import differs


@pytest.mark.parametrize("seed", [1, 2])
def test_the_scanner_agrees_with_the_oracle_on_mutated_cases_and_random_markdown(seed: int) -> None:
    read, found, _ = compare(seed, 1000, 60.0, case_texts())
    assert read == 1000
    assert not found


@pytest.mark.parametrize("text", case_texts())
def test_the_scanner_agrees_with_the_oracle_on_every_case_text(text: str) -> None:
    assert differs(text) is None


def test_a_difference_is_made_as_small_as_it_gets() -> None:
    assert smallest("one two\nthree [x] four\nfive\n", lambda text: "[x" in text) == "[x"
