"""What is behind a live broken directive that has no end is dead, whatever it is (GRAMMAR 4).

A long text is not read any further then. Each text is scanned that way and the longer way.
"""

from __future__ import annotations

from itertools import product

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


def both(text: str, monkeypatch: pytest.MonkeyPatch) -> tuple[list[Event], list[Event]]:
    found = []
    for long in (0, 1 << 30):
        monkeypatch.setattr(examination, "_LONG_CHARS", long)
        found.append(scan_reply(text, POLICY))
    return found[0], found[1]


@pytest.mark.parametrize("broken", BROKEN)
@pytest.mark.parametrize("before", BEFORE)
def test_the_short_way_finds_what_the_long_one_finds(
    before: str, broken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for behind, end in product(BEHIND, ("", "\n\n" + CALL)):
        short, long = both(before + broken + behind + end, monkeypatch)
        assert short == long, (before, broken, behind, end)


def test_nothing_is_laid_out_behind_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examination, "Reader", None)  # what lays out a text
    text = "Words: [TOOL a {x\n" + "[TOOL a {x\n" * 300
    assert scan_reply(f"{text}\n{CALL}") == [
        Skipped(SkipReason.BROKEN, (7, len(text) - 1)),
        Directive(Form.F3, "tools.list", {}, (len(text) + 1, len(text) + 1 + len(CALL))),
    ]


@pytest.mark.parametrize("text", ["[TOOL a {x", "[TOOL a {"])
def test_a_short_text_is_not_read_twice(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(examination, "read_construct", None)
    assert scan_reply(text) == [Skipped(SkipReason.BROKEN, (0, len(text)))]
