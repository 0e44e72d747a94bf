"""The oracle itself: it passes every case file, and its blocks are those of cmark-gfm."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.oracle import cmark
from tests.oracle.files import CASES, json_lines
from tests.oracle.generate import blocks_only
from tests.oracle.oracle import expected
from tests.oracle.specification import fetched


def cases() -> list[Any]:
    """Every line of the case files that has a text and what it expects."""
    lines = [case for file in sorted(CASES.glob("*.jsonl")) for case in json_lines(file)]
    return [pytest.param(case, id=case["id"]) for case in lines if "text" in case and "expect" in case]


def replies() -> list[Any]:
    """The whole replies, each with its text."""
    index = CASES / "replies" / "expected.jsonl"
    told = json_lines(index) if index.exists() else []
    texts = [{**reply, "text": (index.parent / f"{reply['id']}.md").read_text()} for reply in told]
    return [pytest.param(reply, id=reply["id"]) for reply in texts]


@pytest.mark.parametrize("case", cases() + replies())
def test_the_oracle_reads_every_case_as_the_case_says(case: dict[str, Any]) -> None:
    told = expected(case["text"])
    assert [{"op": op, "args": args} for op, args in told.normal] == case["expect"]
    if "verdict" in case:
        assert told.verdict == case["verdict"]


@pytest.mark.needs("cmark-gfm")
@pytest.mark.parametrize("seed", range(4))
def test_the_oracle_finds_the_blocks_that_cmark_gfm_finds(seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(100):
        text = blocks_only(chance)
        assert cmark.differing(text, "cmark-gfm", "-e", "table") == {}, text


@pytest.mark.needs("cmark")
def test_the_oracle_finds_the_blocks_of_every_example_of_the_specification() -> None:
    for example in fetched():
        if "]:" not in example.markdown:  # reference definitions do not exist here (GRAMMAR 1)
            assert cmark.differing(example.markdown, "cmark") == {}, example.number
