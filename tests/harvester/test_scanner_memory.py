"""What the scanner holds of a reply: the open block and a few KiB, whatever the reply's size (GRAMMAR 7).

What other threads hold counts too: a worker of pytest-xdist, which has some, has another program measure it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tracemalloc
from functools import cache
from pathlib import Path

import pytest

from harvester.policy import ScanPolicy
from harvester.scanner import Scanner

POLICY = ScanPolicy(max_reply_bytes=1 << 30)
ROOT = Path(__file__).parents[2]
TIMES = 2000
PIECES = (4, 256)
APART = "PYTEST_XDIST_WORKER" in os.environ
# 4 KiB, several times over: short pieces take more room than their text, and it is joined now and then.
FEW = 5 << 13

FLOWS = {
    "paragraphs": ("Some words of prose, and `code`.\nAnd [a link](x).\n\n", FEW),
    "fences": ("Text.\n\n```py\nx = y[0]\n```\n\n", 2 * FEW),
    "indented code": ("    x = y\n\n", FEW),
    "paragraphs that end with CRLF": ("Some words of prose.\r\n\r\n", FEW),
    "directives": ("[TOOL tools.list {}]\n\nSome words.\n\n", FEW),
    "a list": ("- an item of it\n", FEW),
    "a numbered list": ("1. an item of it\n", FEW),
    "a list of high numbers": ("123456789) an item of it\n", FEW),
    "a loose list": ("- an item of it\n\n", FEW),
    "tables": ("| a | b |\n|---|---|\n", FEW),
    "reasoning": ("<think>\nwords [TOOL x {}]\n", FEW),
    # 40 KiB that are one open block. In a quotation its lines one by one are as many objects.
    "a paragraph": ("Some words of prose.\n", 4 * FEW),
    "a quotation": ("> Some words of prose.\n", 16 * FEW),
}


def held(flow: str, piece: int) -> int:
    """The most bytes held at once while the flow comes in."""
    text = flow * TIMES
    scanner = Scanner(POLICY)
    pieces = [text[start : start + piece] for start in range(0, len(text), piece)]
    tracemalloc.start()
    try:
        for part in pieces:
            scanner.feed(part)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def held_of_an_endless_line() -> int:
    """Bytes held behind ten times as much as a reply may have."""
    scanner, piece = Scanner(), "x" * 4096
    tracemalloc.start()
    try:
        for _ in range(2500):
            scanner.feed(piece)
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


def measured() -> dict[str, int]:
    flows = {f"{name} {piece}": held(flow, piece) for name, (flow, _) in FLOWS.items() for piece in PIECES}
    return {**flows, "endless": held_of_an_endless_line()}


@cache
def found() -> dict[str, int]:
    program = (sys.executable, __file__)
    answer = subprocess.run(
        program, env={"PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, check=True, text=True
    )
    sizes: dict[str, int] = json.loads(answer.stdout)
    return sizes


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("name", FLOWS)
def test_no_more_is_held_than_the_open_block_and_a_few_kib(name: str, piece: int) -> None:
    flow, most = FLOWS[name]
    assert (found()[f"{name} {piece}"] if APART else held(flow, piece)) < most


def test_of_a_line_without_an_end_no_more_is_held_than_a_reply_may_have() -> None:
    size = found()["endless"] if APART else held_of_an_endless_line()
    assert size < ScanPolicy().max_reply_bytes * 1.2


if __name__ == "__main__":
    json.dump(measured(), sys.stdout)
