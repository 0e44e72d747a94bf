"""Each word of each example of CommonMark 0.31, as a directive: it runs where the specification shows prose.

What the specification renders as code, block quote, raw HTML or HTML block must not run (GRAMMAR 2.1 to 2.6).
"""

from __future__ import annotations

import pytest

from harvester.events import Directive
from harvester.scanner import Scanner
from tests.oracle.specification import EXAMPLES, Example, Word, fetched, words

CALL = "[TOOL tools.list {}]"
# Where a directive would be escaped, an image, in a tag, beside a backtick or between straight quotes, or
# make a link: GRAMMAR 1, 2.5 and 2.8 have a word of their own there.
BEFORE, BEHIND = frozenset("\\!<`\"'"), frozenset("`\"'([")
# Examples of what CommonMark shows as prose and GRAMMAR does not.
INERT = {14: "2.8: words between straight quotes", 395: "2.8", 508: "2.8", 168: "2.6: struck out by <del>"}
SECTIONS = (
    *(
        "Tabs",
        "Backslash escapes",
        "Entity and numeric character references",
        "Precedence",
        "Thematic breaks",
    ),
    *("ATX headings", "Setext headings", "Indented code blocks", "Fenced code blocks", "HTML blocks"),
    *("Link reference definitions", "Paragraphs", "Blank lines", "Block quotes", "List items", "Lists"),
    *("Inlines", "Code spans", "Emphasis and strong emphasis", "Links", "Images", "Autolinks", "Raw HTML"),
    *("Hard line breaks", "Soft line breaks", "Textual content"),
)


@pytest.fixture(scope="module")
def all_examples() -> list[Example]:
    return fetched()


def judged(example: Example) -> list[Word]:
    """The words that a directive can stand in the place of."""
    text = example.markdown
    return [
        word
        for word in words(example)
        if example.number not in INERT
        and text[word.start - 1 : word.start] not in BEFORE
        and text[word.end : word.end + 1] not in BEHIND
    ]


def runs(text: str, *, piece: int) -> bool:
    scanner = Scanner()
    found = [event for at in range(0, len(text), piece) for event in scanner.feed(text[at : at + piece])]
    return any(isinstance(event, Directive) for event in found + scanner.close())


@pytest.mark.parametrize("section", SECTIONS)
def test_a_word_runs_where_the_specification_shows_prose(section: str, all_examples: list[Example]) -> None:
    for example in (one for one in all_examples if one.section == section):
        for word in judged(example):
            text = example.markdown[: word.start] + CALL + example.markdown[word.end :]
            told = f"example {example.number}: {text!r}"
            assert runs(text, piece=len(text)) == runs(text, piece=1) == word.live, told


def test_all_sections_and_most_words_are_judged(all_examples: list[Example]) -> None:
    assert len(all_examples) == EXAMPLES
    assert {example.section for example in all_examples} == set(SECTIONS)
    lives = [word.live for example in all_examples for word in judged(example)]
    assert lives.count(True) > 750
    assert lives.count(False) > 250
