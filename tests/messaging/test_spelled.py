"""What a screen does not show is spelled, and says the same to whoever reads the JSON."""

from __future__ import annotations

import json
from unicodedata import category

import pytest
from hypothesis import given
from hypothesis import strategies as st

from messaging import spelled, strip_terminal

HIDDEN = [
    "\x1b[2J", "\x7f", "\x9b", "\u202e", "\u2066", "\u200b", "\u200d", "\u00ad", "\u061c", "\ufeff", "\u2028",
    "\u00a0", "\u2800", "\u3164", "\u115f", "\ufe0f", "\u034f", "\U000e0041", "\U000e0101",
    "\ue000", "\U000f0000",
]  # fmt: skip


@pytest.mark.parametrize("hidden", HIDDEN)
def test_what_a_screen_hides_is_spelled(hidden: str) -> None:  # O-36
    shown = spelled(json.dumps(f"pay{hidden}", ensure_ascii=False))
    assert shown.isascii()
    assert shown != '"pay"'
    assert strip_terminal(shown) == shown  # nothing is left that a terminal would be kept from
    assert json.loads(shown) == f"pay{hidden}"


def test_what_is_seen_stays_as_it_is() -> None:
    for text in ("plain\nlines", "ü 漢字 🐢 e\u0301 العربية", ""):
        assert spelled(text) == text


@given(st.text())
def test_json_says_the_same_afterwards(text: str) -> None:
    shown = spelled(json.dumps({"text": text}, ensure_ascii=False, indent=1))
    assert json.loads(shown) == {"text": text}
    assert all(category(char) not in ("Cf", "Cn", "Co") for char in shown)


def test_half_a_character_is_spelled_too() -> None:
    assert spelled("\ud800x") == "\\ud800x"
