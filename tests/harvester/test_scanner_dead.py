"""What is behind a live broken directive that has no end is dead, whatever it is (GRAMMAR 4).

A long text is not read any further then. Each text is scanned that way and the longer way.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from typing import Any

import pytest

from harvester.events import Directive, Event, Form, Skipped, SkipReason
from harvester.policy import ScanPolicy
from harvester.scanner import examination, scan_reply

CALL = "[TOOL tools.list]"
POLICY = ScanPolicy()
BEFORE = (
    "",
    "Some words. ",
    "!",
    "\\",
    "“",
    "`",
    "~~",
    "'",
    "<code>",
    "first line\n",
    f"{CALL} ",
    "[TOOL a] ",
)
BROKEN = (
    '[TOOL a {"b": ',
    "[TOOL a {x ",
    "[TOOL a {",
    '[TOOL a {"b"}',
    "[TOOL a {x}] ",
    "[RESULT {",
    "[DM {",
)
BEHIND = (
    *("", "words", f"{CALL}", f"\n{CALL}", "`", "”", "'", "~~", "</code>", "}]", "}", "](x)"),
    *("<think>", "</think>", f"</think> {CALL}", "\ncurl x", "\n\n" + CALL, "\n# Heading " + CALL),
)


@contextmanager
def instead(name: str, value: Any) -> Iterator[None]:
    """Another value of a name in the module; without a fixture, so that these tests judge mutants too."""
    before = getattr(examination, name)
    setattr(examination, name, value)
    try:
        yield
    finally:
        setattr(examination, name, before)


def found(text: str, *, long_chars: int) -> list[Event]:
    with instead("_LONG_CHARS", long_chars):
        return scan_reply(text, POLICY)


@pytest.mark.parametrize("broken", BROKEN)
@pytest.mark.parametrize("before", BEFORE)
def test_the_short_way_finds_what_the_long_one_finds(before: str, broken: str) -> None:
    for behind, end in product(BEHIND, ("", "\n\n" + CALL)):
        text = before + broken + behind + end
        assert found(text, long_chars=0) == found(text, long_chars=1 << 30), text


def test_nothing_is_laid_out_behind_it() -> None:
    text = "Words: [TOOL a {x\n" + "[TOOL a {x\n" * 300
    with instead("Reader", None):  # what lays out a text
        events = scan_reply(f"{text}\n{CALL}")
    assert events == [
        Skipped(SkipReason.BROKEN, (7, len(text) - 1)),
        Directive(Form.F3, "tools.list", {}, (len(text) + 1, len(text) + 1 + len(CALL))),
    ]


@pytest.mark.parametrize("text", ["[TOOL a {x", "[TOOL a {"])
def test_a_short_text_is_not_read_twice(text: str) -> None:
    with instead("read_construct", None):
        events = scan_reply(text)
    assert events == [Skipped(SkipReason.BROKEN, (0, len(text)))]
