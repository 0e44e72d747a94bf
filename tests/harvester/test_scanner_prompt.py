"""A directive is reported with the first character behind which nothing can change it (GRAMMAR 7)."""

from __future__ import annotations

import pytest

from harvester.events import Directive, Event
from harvester.policy import ScanPolicy
from harvester.scanner import Scanner
from tests.harvester.scanned import Case, cases

# A small limit for paragraphs, so that a continuation over it is short.
POLICY = ScanPolicy(max_paragraph_bytes=3000)
LIST = "[TOOL tools.list {}]"

# What a reply may go on with. Each makes some directive inert that stands before it, or leaves it as it is.
CONTINUATIONS = (
    "", "\n", "\n\n", " x", "`", "`x`", "``", "(u)", "[x]", "'", '"', "”", "~~", "</code>", "-->", ">",
    "\n===\n", "\n---\n", "\n|-|\n", "\n-|-\n", "\n> q", "\n- x", "\n# x", "\n```\n", "x\n",
    " x" * 2000, "\n" + "x" * 4000, "-\n", "=\n", "|\n", "``x`\n" + "x" * 4000, "\\", "\nx\n|-|\n", "<think>",
)  # fmt: skip

# Each with how many characters are left when its directive is reported.
BEGINNINGS = {
    f"{LIST}\n\n": 0, f"{LIST}\r\r": 0, f"{LIST}\n> q": 2, f"{LIST}\n# x": 1, f"{LIST}\n#x\n\n": 0,
    f"{LIST}\n~~~": 0, f"{LIST}\n- x": 1, f"{LIST}\n* x": 0, f"{LIST}\n1. x": 0, f"{LIST}\n2. x\n\n": 0,
    f"- {LIST}\n2. x": 1, f"- {LIST}\n- x": 1, f"- {LIST}\n* x": 1, f"{LIST}\n<div>": 0, f"{LIST}\n<!-- x": 2,
    f"{LIST}\n<think>": 0, f"{LIST}\n```\n": 0, f"{LIST}\n===\n": 0, f"{LIST}\nx\n|-|\n": 0,
    f"{LIST}\n-\n": 0,
    f"{LIST}\n    x\n\n": 0, f"{LIST}\n  \n": 0, f"{LIST}\n<b\n\n": 0, f"text ` {LIST}\n\n": 0,
    f"# {LIST}\n": 0, f"| a |\n|---|\n| {LIST} |\n": 0, f"```tool\n{LIST}\n```\n": 0,
}  # fmt: skip


def directives(text: str) -> list[Event]:
    scanner = Scanner(POLICY)
    return [event for event in scanner.feed(text) + scanner.close() if isinstance(event, Directive)]


def reported(text: str) -> list[tuple[Event, int]]:
    """Each directive, and how many characters had been fed when it was reported."""
    scanner, found = Scanner(POLICY), list[tuple[Event, int]]()
    for place, char in enumerate(text, start=1):
        found += [(event, place) for event in scanner.feed(char)]
    return [(event, place) for event, place in found if isinstance(event, Directive)]


@pytest.mark.parametrize("text", BEGINNINGS)
def test_it_is_reported_with_the_character_that_ends_its_paragraph(text: str) -> None:
    assert [place for _, place in reported(text)] == [len(text) - BEGINNINGS[text]]


CASES = [case for case in cases("directives.jsonl") + cases("own.jsonl") if len(case.text) < 1000]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_one_character_earlier_some_continuation_makes_it_inert(case: Case) -> None:
    for event, place in reported(case.text):
        before = case.text[: place - 1]
        assert any(event not in directives(before + more) for more in CONTINUATIONS), (before, event)


def test_a_dash_may_underline_and_only_a_command_waits_for_that() -> None:
    curl = 'curl https://localhost/exec -d \'{"op":"cron.list"}\''
    for text, line, events in ((LIST, "-", 1), (curl, "-", 0), (f"{LIST} x\n{LIST}", "- -", 2)):
        for rest in (" x\n\n", " \n", " - -\n"):
            scanner = Scanner(POLICY)
            assert scanner.feed(f"{text}\n{line[0]}") == []
            early = scanner.feed(line[1:] + " ")
            assert len(early) == events
            whole = Scanner(POLICY)
            after = scanner.feed(rest) + scanner.feed(f"  {LIST}\n") + scanner.close()
            assert early + after == whole.feed(f"{text}\n{line} {rest}  {LIST}\n") + whole.close()


def test_what_stands_in_reasoning_behind_the_paragraph_is_read_as_reasoning() -> None:
    scanner = Scanner(POLICY)
    text = f"{LIST}\n<think>{LIST}</think>{LIST}\n\n"
    assert [event.span for char in text for event in scanner.feed(char)] == [(0, 20), (21, 56), (56, 76)]


def test_a_tag_in_the_paragraph_takes_over_when_the_next_line_ends_it() -> None:
    for beginning in ("> ", "- "):
        text = f"`a` {LIST} <think> x\n{beginning}{LIST}\n</think>\n{LIST}\n\n"
        whole = Scanner(POLICY)
        events = whole.feed(text) + whole.close()
        assert sum(isinstance(event, Directive) for event in events) == 2
        scanner = Scanner(POLICY)
        assert [event for char in text for event in scanner.feed(char)] + scanner.close() == events


def test_a_line_that_has_said_nothing_in_256_characters_is_asked_no_more() -> None:
    scanner = Scanner(POLICY)
    assert scanner.feed(f"{LIST}\n" + " " * 300) == scanner.feed("> x") == []
    assert [event.span for event in scanner.feed("\n\n")] == [(0, 20)]
