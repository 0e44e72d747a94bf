"""Corners that no other test reaches: each kills a mutant of the scanner (`./box soak mutants`)."""

from __future__ import annotations

from harvester.events import Skipped, SkipReason
from harvester.policy import ScanPolicy
from harvester.scanner import Scanner
from tests.harvester._asked import LIST, ops


def test_ascii_pieces_count_for_the_limit_of_a_reply_as_others_do() -> None:
    text = f"{LIST}\n\n{LIST}\n\n{LIST}\n\n"
    for size in (1, 5, 22, len(text)):
        scanner = Scanner(ScanPolicy(max_reply_bytes=50))
        found = [event for at in range(0, len(text), size) for event in scanner.feed(text[at : at + size])]
        found += scanner.close()
        assert found[-1] == Skipped(SkipReason.LIMIT_REPLY, (50, len(text)))


def test_a_bracket_on_the_next_line_closes_a_broken_directive_too() -> None:
    assert ops(f"[TOOL x {{bad}}\n \t](u) {LIST}") == ["tools.list"]  # a link: passed over, not broken
    assert ops(f"[TOOL x {{bad}}\n](u {LIST}") == ["tools.list"]
    assert ops(f"[TOOL x {{bad}}\n] {LIST}\n\n{LIST}") == ["tools.list"]
