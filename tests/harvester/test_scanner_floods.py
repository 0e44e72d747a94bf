"""No flood is led into quadratic time (O-12): steps are counted, so that a slow machine is no failure."""

from __future__ import annotations

import sys
from types import FrameType

import pytest

from bench.scanner_floods import FLOODS
from harvester.policy import ScanPolicy
from harvester.scanner import Scanner

SMALL, TIMES = 200, 4
POLICY = ScanPolicy(max_reply_bytes=1 << 30)


def steps(text: str, piece: int) -> int:
    """Calls, of Python and of C functions, while `text` is scanned in pieces. What C does inside is not seen:
    `./box bench scanner_floods` measures that."""
    count = 0

    def seen(_frame: FrameType, event: str, _arg: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    scanner = Scanner(POLICY)
    sys.setprofile(seen)
    try:
        for begin in range(0, len(text), piece):
            scanner.feed(text[begin : begin + piece])
        scanner.close()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("whole", [True, False], ids=["whole", "in pieces"])
@pytest.mark.parametrize("name", FLOODS)
def test_four_times_the_text_takes_no_sixteen_times_the_steps(name: str, *, whole: bool) -> None:  # O-12
    small, large = FLOODS[name](SMALL), FLOODS[name](SMALL * TIMES)
    growth = len(large) / len(small)
    few, many = (steps(text, len(text) if whole else 7) for text in (small, large))
    # Linear is 4, quadratic 16. A short text may be held unread to its end, so a step a character is few.
    assert many <= 2 * growth * max(few, len(small))
