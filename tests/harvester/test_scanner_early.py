"""A directive is reported as soon as nothing that follows can change it, and no sooner (GRAMMAR 7).

By brute force: with one character fewer, some continuation makes it inert; with it, none does.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator

import pytest

from harvester.events import Directive, Event, Span
from harvester.policy import ScanPolicy
from harvester.scanner import Scanner
from tests.harvester._asked import LIST

# Small, so that a paragraph that may still go on can be made too long, which makes all of it inert.
POLICY = ScanPolicy(max_paragraph_bytes=600)
LONG = "x" * 700
# What may follow: more of the line, of the paragraph, of a fence's info string, of a tag; or nothing.
CONTINUATIONS = (
    "", LONG, f"\n{LONG}", f" \n{LONG}", f" {LONG}", f"` {LONG}", f"`\n{LONG}", f"x`{LONG}", "(u)", "`",
    "'", "”", '"', "[a]", "~~", "</code>", "\n”", "\n`", f"> {LONG}", f">\n{LONG}", f"-{LONG}",
    f"={LONG}", f"|\n{LONG}", f"\r\n{LONG}", "\n```", "\n~~~", "\n-->", "\n</think>", "\n\n”",
    "\n===\n", "\n|-|\n", "\n---\n", f"x\n{LONG}", f"-\n{LONG}", f">{LONG}", f"#{LONG}", f". {LONG}",
    f"/>{LONG}", f"=\n{LONG}", "\\\n-d x", " -d x", f"\t\n{LONG}", f"\n  {LONG}",
)  # fmt: skip
# An underline makes a heading of the paragraph, in which no line is a command: that is not told earlier.
DASH_BEHIND_CURL = re.compile(r"curl [\s\S]*\n *-[ \t]")


def spans(events: Iterable[Event]) -> set[Span]:
    return {event.span for event in events if isinstance(event, Directive)}


def reported(text: str) -> dict[Span, int]:
    """For each directive how many characters had to come."""
    scanner, found = Scanner(POLICY), dict[Span, int]()
    for count, char in enumerate(text, start=1):
        for span in spans(scanner.feed(char)):
            found[span] = count
    scanner.close()
    return found


def without(text: str, span: Span) -> Iterator[str]:
    """The continuations of a beginning of a reply behind which the directive does not run."""
    for more in CONTINUATIONS:
        scanner = Scanner(POLICY)
        if span not in spans(scanner.feed(text + more) + scanner.close()):
            yield more


def check(text: str) -> int:
    """Both ways for each directive of a text; how many there were."""
    found = reported(text)
    for span, count in found.items():
        assert not any(True for _ in without(text[:count], span)), f"too soon: {text[:count]!r}"
        if not DASH_BEHIND_CURL.search(text[:count]):
            assert any(True for _ in without(text[: count - 1], span)), f"too late: {text[:count]!r}"
    return len(found)


BEGINNINGS = (
    "",
    "x ",
    "x\n",
    "- ",
    "- x\n",
    "a “ ",
    "a | b\n",
    "1. x\n\n   ",
    "` ",
    "<b>",
    "curl x\n",
    "é\n\n",
)
ENDS = (
    "\n\n", "\n \t\n", "\r\r", "\r\n\r\n", "\n>", "\n   > x", "\n# x", "\n#\tx", "\n#\n", "\n===\n",
    "\n= \n", "\n---\n", "\n- x", "\n-\tx", "\n+\tx", "\n- - -\n", "\n* x", "\n*\tx", "\n***\n", "\n+ x",
    "\n1. x",
    "\n01) x", "\n2. x\n\n", "\n_ _ _\n", "\n```\n", "\n```` x y\n", "\n~~~", "\n~~~ `", "\n<div>",
    "\n</P ", "\n<pre\t", "\n<!--", "\n<?", "\n<!X", "\n<![CDATA[", "\n<h1/>", "\n<think>",
    "\n  <Reasoning a='b'>", "\n    x\n\n", "\n|-|\n", "\n- \n\n",
)  # fmt: skip


@pytest.mark.parametrize("end", ENDS)
def test_a_directive_in_a_paragraph_is_reported_where_its_end_is_certain(end: str) -> None:
    for beginning in BEGINNINGS:
        text = f"{beginning}{LIST}{end}"
        assert check(text) == 1 or check(f"{text}\n\n") == 1, text


@pytest.mark.parametrize(
    "text",
    [
        f"# {LIST}\n", f"# {LIST} #\r", f"- ## {LIST}\n", f"| a |\n|---|\n| {LIST} |\n",
        f"| {LIST} |\n|---|\n", f"```tool\n{LIST}\n```\n", "~~~box\ndisk\n~~~~ \r\n",
        f"- ```tool\n  {LIST}\n  ```\n",
        """```sh\ncurl https://localhost/exec -d '{"op":"x"}'\n```\n""",
        """curl https://localhost/exec -d '{"op":"x"}'\n\n""",
    ],
)  # fmt: skip
def test_a_heading_a_row_and_a_block_are_reported_with_their_last_line(text: str) -> None:
    assert check(text) >= 1
    assert set(reported(text).values()) == {len(text.rstrip("\r\n")) + 1} or text.startswith("curl")


@pytest.mark.parametrize("more", ["", "z", "z z"])
def test_in_one_piece_it_is_reported_no_later_than_in_characters(more: str) -> None:
    for end in ENDS:
        for beginning in BEGINNINGS:
            text = f"{beginning}{LIST}{end}{more}"
            assert spans(Scanner(POLICY).feed(text)) == reported(text).keys(), text


PIECES = (
    LIST, LIST, LIST, "x", " ", "\n", "\n", "\n\n", "> ", "- ", "# ", "1. ", "2. ", "`", "```\n",
    "~~~\n", "===\n", "---\n", "| a |\n|---|\n", "“", "”", "<b>", "<div>", "<think>", "</think>",
    "[TOOL x {", "[TOOL x {bad}]\n", "    ", "\t", "*", "_ _", "=", "\r", "```tool\n", "curl x", "<!--",
    "-->", "(u)", "\\",
)  # fmt: skip


def test_so_it_is_in_any_text() -> None:
    chance = random.Random(7)
    texts = ("".join(chance.choices(PIECES, k=chance.randint(2, 9))) + "\n\n" for _ in range(400))
    assert sum(map(check, texts)) > 70
