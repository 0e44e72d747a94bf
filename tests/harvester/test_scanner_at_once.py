"""What is taken at once, and what waits for its rest, is as in the longer way (GRAMMAR 2 and 7)."""

from __future__ import annotations

import pytest

from harvester.events import Skipped, SkipReason
from harvester.policy import ScanPolicy
from harvester.scanner import Scanner
from harvester.scanner.leaves import Hidden, Paragraph
from harvester.scanner.lines import Line
from harvester.scanner.skipping import half_sign

LIST = "[TOOL tools.list {}]"
AT = 1000


def paragraph(first: str, *, room: int) -> Paragraph:
    one = Paragraph(room, Hidden(SkipReason.TOO_LONG, AT))
    one.add(Line(first, AT), 0)
    return one


@pytest.mark.parametrize(
    ("taken", "rest", "seen"),
    [
        ("One.\nTwo.\n", "Three.\n", False),
        ("One.\nTwo.\n", "3.\n", False),
        ("Ünë.\n", "Two.\n> q\n", False),
        ("One.\n", "Two.\nThree", False),
        (f"One {LIST}\n", "Two.\n", True),
        ("One.\n", f"Two {LIST}\n", False),
    ],
)
def test_lines_of_a_paragraph_over_its_limit_are_taken_but_for_the_last(
    taken: str, rest: str, *, seen: bool
) -> None:
    before = f"{LIST}\n"
    one = paragraph("Zero.", room=2)
    room, pos = one.room, len(before)
    end = one.leap(before + taken + rest, pos, AT)
    # `3.` may begin a list: the line before it is the last one that surely goes on the paragraph.
    last = taken if rest[0] != "3" else taken[: taken.index("\n") + 1]
    assert end == pos + len(last)
    assert [piece.line for piece in one.pieces] == [Line(last[:-1], AT + pos)]
    assert one.room == room - len(last.encode())
    one.add(Line("the next", AT + end), 0)
    assert (one.hidden.seen, one.hidden.end) == (seen, AT + end - 1)


def test_the_lines_that_were_held_are_looked_through_first() -> None:
    one = paragraph(LIST, room=2)
    one.leap(f"{LIST}\nOne.\nTwo.\n", len(LIST) + 1, AT)
    assert one.hidden.seen


@pytest.mark.parametrize(
    ("text", "room"),
    [("One.\n", 2), ("One.\r\nTwo.\r\n", 2), ("One.\rTwo.\r", 2), ("> q\nOne.\nTwo.\n", 2), ("", 2)],
    ids=["the last line", "CRLF", "what may be half of a CRLF", "no plain line", "nothing"],
)
def test_nothing_is_taken_at_once_otherwise(text: str, room: int) -> None:
    before = "Zero.\n"
    one = paragraph("Zero.", room=room)
    left = one.room
    assert one.leap(before + text, len(before), AT) == len(before)
    assert (one.room, one.hidden.end, len(one.pieces)) == (left, 0, 1)


@pytest.mark.parametrize(
    ("text", "half"),
    [
        ("x [TO", "[TO"),
        ("x ```to", "```to"),
        ("x ~~~ cr", "~~~ cr"),
        ("x </thi", "</thi"),
        ("x cur", "cur"),
        ("x", ""),
        ("` cur", ""),
        ("curl x [TO", ""),
        (f"{LIST} [TO", ""),
        ("x [" + "a" * 20, ""),
    ],
)
def test_only_a_short_half_of_a_sign_with_no_sign_before_it_waits(text: str, half: str) -> None:
    place = half_sign(text)
    assert (text[place:] if place else "") == half


def test_a_half_that_waited_for_its_rest_is_counted_once() -> None:
    scanner = Scanner()
    pieces = ["Plain.\n", "A toy\nis [TO", "Y] here\n", "<think>On and on.\n"]
    events = [event for piece in pieces for event in scanner.feed(piece)] + scanner.close()
    text = "".join(pieces)
    assert events == [Skipped(SkipReason.REASONING, (text.index("<"), len(text)))]


def test_bytes_of_what_only_waits_count_towards_the_limit() -> None:
    scanner = Scanner(ScanPolicy(max_reply_bytes=1000))
    lines = ["ééééééé\n"] * 200  # 8 characters, 15 bytes
    events = [event for line in lines for event in scanner.feed(line)] + scanner.close()
    assert events == [Skipped(SkipReason.LIMIT_REPLY, (66 * 8 + 5, 200 * 8))]
