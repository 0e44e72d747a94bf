"""While something is open, what cannot end it waits unread; nothing is found later for it, or otherwise."""

from __future__ import annotations

import pytest

from harvester.events import Event
from harvester.policy import ScanPolicy
from harvester.scanner import Scanner
from harvester.scanner.watches import Watch, in_fence, in_html, in_paragraph, in_reasoning

LIST = "[TOOL tools.list {}]"
# Longer than what may wait, so that some of it is read in between.
LONG = 700
ENDS = ("\n", "\r\n", "\r")

# What is open, a line that goes on it, and what ends it.
OPEN = {
    "a paragraph": (f"{LIST}\n", "Words and more.\n", "\n"),
    "a paragraph before an item": (f"{LIST}\n", "Words and more.\n", "- x"),
    "a paragraph of an item": (f"- {LIST}\n", "Lazy words.\n", "\n\nx\n"),
    "a paragraph, then dead text": ("[TOOL x {bad\n", "Words and more.\n", f"\n{LIST}\n\n"),
    "a box fence": ("```box\n", "disk\n", "```\n"),
    "a longer fence": ("````tool\n", "```tool\n", "  ````` \t\n"),
    "a fence of waves": ("~~~tool\n", "tools.list `` ```\n", "~~~\n"),
    "a fence that nothing runs in": ("```py\n", f"x {LIST}\n", "```\n"),
    "a fence in an item": ("- ```tool\n", "  tools.list\n", "  ```\n"),
    "reasoning": ("<think>\n", f"{LIST} <p>\n", "</think>"),
    "a comment": ("<!-- x\n", f"{LIST}\n", "-->\n"),
    "a raw tag": ("<pre>\n", f"{LIST}\n", "</pre>\n"),
    "a comment, then reasoning": ("<!-- x\n", f"{LIST}\n", "<think>y</think>\n"),
    "a block tag": ("<div>\n", f"{LIST}\n", "\n"),
    "a table": ("| a |\n|---|\n", f"| x {LIST} |\n", "\n"),
    "indented code": ("    x\n", f"    {LIST}\n", "y\n"),
}


def events(text: str, size: int, policy: ScanPolicy | None = None) -> list[Event]:
    scanner = Scanner(policy)
    pieces = (text[at : at + size] for at in range(0, len(text), size))
    return [event for piece in pieces for event in scanner.feed(piece)] + scanner.close()


@pytest.mark.parametrize("end", ENDS, ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize("name", OPEN)
def test_what_waited_is_as_if_it_had_been_read(name: str, end: str) -> None:
    first, line, last = OPEN[name]
    text = (first + line * LONG + last + f"\n\n{LIST}\n").replace("\n", end)
    policy = ScanPolicy(max_calls=1 << 20)
    whole = events(text, len(text), policy)
    assert whole
    for size in (1, 4, 7, 1000):
        assert events(text, size, policy) == whole
    cut_off = text[: len(text) // 2]
    assert events(cut_off, 4) == events(cut_off, len(cut_off))


@pytest.mark.parametrize("end", ENDS, ids=["LF", "CRLF", "CR"])
@pytest.mark.parametrize("name", ["a box fence", "reasoning", "a comment", "a raw tag", "a fence of waves"])
def test_what_ends_it_is_seen_in_the_piece_that_completes_it(name: str, end: str) -> None:
    first, line, last = OPEN[name]
    text = (first + line * 9 + last.rstrip("\n")).replace("\n", end)
    for size in (1, 3, 4):
        scanner, whole = Scanner(), text + end
        found = [scanner.feed(whole[at : at + size]) for at in range(0, len(whole), size)]
        assert [place for place, some in enumerate(found) if some] == [len(text) // size]


@pytest.mark.parametrize(
    ("watch", "piece", "seen"),
    [
        (in_paragraph, "ds.\nMore", False),
        (in_paragraph, "ds.\rMore\r\nand", False),
        (in_paragraph, "ds.\n", True),
        (in_paragraph, "ds.\r", True),
        (in_paragraph, "ds.\r\n", True),
        (in_paragraph, "ds.\n\nMore", True),
        (in_paragraph, "ds.\n- x", True),
        (in_paragraph, "ds.\n=", True),
        (in_paragraph, "a <thi", True),
        (in_fence["`"], "x\n~~~\n", False),
        (in_fence["`"], "`x` y\n```tool\n", False),
        (in_fence["`"], "x\n``", True),
        (in_fence["`"], "``` \t", True),
        (in_fence["`"], "x```\r", True),
        (in_fence["~"], "x\n```\n", False),
        (in_fence["~"], "x\n~", True),
        (in_html, "--\n", False),
        (in_html, ">\n", True),
        (in_html, "<think>", True),
        (in_reasoning, "<think> x > y\n", False),
        (in_reasoning, "x <", True),
        (in_reasoning, "x </", True),
    ],
)
def test_a_piece_is_read_if_it_may_hold_an_end_or_half_of_one(
    watch: Watch, piece: str, *, seen: bool
) -> None:
    assert bool(watch(piece)) is seen


def test_the_end_of_what_waited_is_no_half_of_a_line_end_where_more_of_the_next_line_has_come() -> None:
    """A CR ends what waits, the next line has begun, and only then what waits is read."""
    cut_off = "```tool\n[DM\x1c\r`\r"
    policy = ScanPolicy(max_reply_bytes=len(cut_off) - 1)
    assert events(cut_off, 1, policy) == events(cut_off, len(cut_off), policy)
    for blanks in range(4060, 4105):
        text = f"```tool\n{'a' * blanks}\r`\nb\n```\n{LIST}\n\n[TOOL x {{bad\n"
        assert events(text, 1) == events(text, len(text))
