"""Corners that no other test reaches: each kills a mutant of the scanner (`./box soak mutants`)."""

from __future__ import annotations

import sys
from types import FrameType

import pytest

from harvester.events import Directive, Event, Skipped, SkipReason
from harvester.policy import ScanPolicy
from harvester.scanner import Scanner
from tests.harvester._asked import LIST, ops, scan


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


def test_the_place_of_a_curl_in_a_fence_is_its_own_text() -> None:
    command = """curl https://localhost/exec -d '{"op":"x"}'"""
    text = f"- ```sh\n\n   \t{command}\n \n  ```\n"
    assert [text[slice(*event.span)] for event in scan(text)] == [command]


def in_pieces(text: str, size: int) -> list[Event]:
    scanner = Scanner()
    found = [event for at in range(0, len(text), size) for event in scanner.feed(text[at : at + size])]
    return found + scanner.close()


# ---- what waits unread (GRAMMAR 7: any pieces, the events of the whole) -------------------------------

LINE = "x" * 100
LINES = 1000  # together longer than any block that may run, so that not all of it is kept


@pytest.mark.parametrize("begin", ["```\n", "~~~ x\n", "<pre>\n", "<!-- x\n", "<?\n", "- a\n\n  ```\n"])
@pytest.mark.parametrize("size", [999, 110_000])
def test_a_long_block_that_blank_lines_do_not_end_is_still_open(begin: str, size: int) -> None:
    indent = "  " * begin.startswith("-")
    text = begin + f"{indent}{LINE}\n\n" * LINES + f"{indent}z\n\n{indent}{LIST}\n\n"
    assert not [event for event in in_pieces(text, size) if isinstance(event, Directive)]


@pytest.mark.parametrize(("line", "runs"), [("> ", False), ("> - ", False), ("> # ", True), ("- ", True)])
@pytest.mark.parametrize("size", [999, 110_000])
def test_behind_many_lines_a_paragraph_goes_on_lazily_or_begins(line: str, size: int, *, runs: bool) -> None:
    text = f"{line}{LINE}\n" * LINES + f"{LIST}\n\n"
    found = [event.op for event in in_pieces(text, size) if isinstance(event, Directive)]
    assert found == ["tools.list"] * runs


def test_prose_behind_a_directive_is_not_read_line_by_line() -> None:
    calls = 0

    def seen(_frame: FrameType, event: str, _arg: object) -> None:
        nonlocal calls
        calls += event == "call"

    scanner = Scanner()
    sys.setprofile(seen)
    try:
        scanner.feed(f"{LIST}\n\n" + "Some prose.\n\n" * 2000)
        scanner.close()
    finally:
        sys.setprofile(None)
    assert calls < 500
