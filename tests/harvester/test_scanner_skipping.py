"""What is not read could not have mattered: the scanner against a reading of every line (GRAMMAR 2 and 7)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harvester.events import Event, Skipped, SkipReason
from harvester.policy import ScanPolicy
from harvester.scanner import Scanner
from harvester.scanner.ledger import Ledger
from harvester.scanner.lines import lines_from
from harvester.scanner.reply import Reply
from harvester.scanner.skipping import fresh_start

LIST = "[TOOL tools.list {}]"


def read_every_line(text: str) -> list[Event]:
    ledger = Ledger(ScanPolicy())
    reply = Reply(ledger)
    for line, _ in lines_from(text + "\n", 0, 0):
        reply.line(line)
    reply.finish(len(text))
    return ledger.take()


BITS = st.sampled_from(
    [
        LIST + "\n", LIST + "\n\n", LIST, "[TOOL x {", "[TOOL x {bad}]\n", "```\n", "``` py\n",
        "````\n", "~~~\n", "  ```\n", "- ```\n", "> ```\n", "- a\n", "  - b\n", "> q\n", "\n\n", "\n",
        "Text.\n\n", "Text ", "é x\n\n", "<div>\n", "<!-- x\n", "-->\n", "<think>", "</think>\n",
        "<pre>\n", "    code\n", "1. x\n", "   x\n", "| a |\n|---|\n", "```tool\ncron.list\n```\n",
        "curl x\n", "“", "”", "`", "[RESULT] PASS\n\n", "\r\n\r\n", "\n \n", "```a`b\n",
        "\n\n[x] y\n\n", "***\n",
    ]
)  # fmt: skip


@settings(max_examples=500)
@given(text=st.lists(BITS, max_size=40).map("".join))
def test_what_is_skipped_changes_no_event(text: str) -> None:
    scanner = Scanner()
    assert scanner.feed(text) + scanner.close() == read_every_line(text)


@settings(max_examples=30)
@given(text=st.lists(BITS, max_size=30).map("".join), piece=st.integers(1, 9))
def test_what_has_waited_too_long_changes_no_event(text: str, piece: int) -> None:
    text = "Much prose.\n" * 1400 + text + "\n\nMore prose.\n" * 1400 + LIST
    scanner = Scanner()
    events = [
        event
        for start in range(0, len(text), 500 * piece)
        for event in scanner.feed(text[start : start + 500 * piece])
    ]
    assert events + scanner.close() == read_every_line(text)


@pytest.mark.parametrize(
    ("text", "fresh"),
    [
        ("a\n\nb", "b"),
        ("- a\n\nb c", "b c"),
        ("a\n\n- b", "a\n\n- b"),
        ("```\n\nb\n```\n\nc", "c"),
        ("a\n\nb\n```\n\nc", "b\n```\n\nc"),
        ("```\n\nb\n```\nc", "```\n\nb\n```\nc"),
        ("a\n\nb\n```\n\nc\n````\nd", "b\n```\n\nc\n````\nd"),
        ("``` a`\n\nb", "b"),
        ("````\n\nb\n```\n\nc", "````\n\nb\n```\n\nc"),
        ("```\n\nb\n``` x\n\nc", "```\n\nb\n``` x\n\nc"),
        ("- ```\n\nb", "- ```\n\nb"),
        ("<pre>\n\nb", "<pre>\n\nb"),
        ("a\r\n\r\nb", "a\r\n\r\nb"),
    ],
)
def test_structure_is_read_from_the_last_line_behind_which_nothing_is_open(text: str, fresh: str) -> None:
    assert text[fresh_start(text, 0, len(text) - 1) :] == fresh


def test_the_last_line_of_a_paragraph_over_its_limit_may_still_be_a_header_row() -> None:
    policy = ScanPolicy(max_paragraph_bytes=200)
    text = f"x {LIST}\n" + "Words.\n" * 100 + f"a\n|-|\n{LIST}\n"
    scanner = Scanner(policy)
    skipped, row = scanner.feed(text) + scanner.close()
    assert skipped == Skipped(SkipReason.TOO_LONG, (0, text.index("\na\n")))
    assert row.span[0] == text.rindex(LIST)
