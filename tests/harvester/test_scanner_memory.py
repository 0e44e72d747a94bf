"""What the scanner holds of a reply: the open block and a few KiB, whatever the reply's size (GRAMMAR 7)."""

from __future__ import annotations

import tracemalloc

import pytest

from harvester.policy import ScanPolicy
from harvester.scanner import Scanner

POLICY = ScanPolicy(max_reply_bytes=1 << 30)
TIMES = 2000
# 4 KiB, several times over: short pieces take more room than their text, and it is joined now and then.
FEW = 5 << 13

FLOWS = {
    "paragraphs": ("Some words of prose, and `code`.\nAnd [a link](x).\n\n", FEW),
    "fences": ("Text.\n\n```py\nx = y[0]\n```\n\n", 2 * FEW),
    "indented code": ("    x = y\n\n", FEW),
    "paragraphs that end with CRLF": ("Some words of prose.\r\n\r\n", FEW),
    "directives": ("[TOOL tools.list {}]\n\nSome words.\n\n", FEW),
    "a list": ("- an item of it\n", FEW),
    "a loose list": ("- an item of it\n\n", FEW),
    "tables": ("| a | b |\n|---|---|\n", FEW),
    "reasoning": ("<think>\nwords [TOOL x {}]\n", FEW),
    # 40 KiB that are one open block; its lines one by one are as many objects.
    "a paragraph": ("Some words of prose.\n", 4 * FEW),
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


@pytest.mark.parametrize("piece", [4, 256])
@pytest.mark.parametrize("name", FLOWS)
def test_no_more_is_held_than_the_open_block_and_a_few_kib(name: str, piece: int) -> None:
    flow, most = FLOWS[name]
    assert held(flow, piece) < most


def test_of_a_line_without_an_end_no_more_is_held_than_a_reply_may_have() -> None:
    scanner, piece = Scanner(), "x" * 4096
    tracemalloc.start()
    try:
        for _ in range(2500):
            scanner.feed(piece)
        assert tracemalloc.get_traced_memory()[0] < ScanPolicy().max_reply_bytes * 1.2
    finally:
        tracemalloc.stop()
