"""What reaches a person's terminal."""

from __future__ import annotations

import json

import click
import pytest

from inband.cli.shared import harmless, json_text, table


@pytest.fixture(autouse=True)
def colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)


def test_our_styles_are_shown() -> None:
    for style in ({"bold": True}, {"bold": True, "underline": True}, {"dim": True}, {"fg": "bright_red"}):
        assert harmless(click.style("heron", **style)) == click.style("heron", **style)


def test_no_color_leaves_the_text_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert harmless(click.style("heron", bold=True, fg="red") + " says") == "heron says"


@pytest.mark.parametrize(
    "code",
    [
        "\x1b]0;title\x07",
        "\x1b[2J",
        "\x1b[8m",
        "\x1b[1;31m",
        "\x9d0;title\x9c",
        "\x9b2J",
        "\x90q\x9c",
        "\x08",
        "\u202e",
        "\x1b",
        "\x1b]0;\x1b[1mx",
    ],
)
def test_codes_of_others_are_not_obeyed(code: str) -> None:
    shown = harmless(f"a{code}b").replace("\x1b[1m", "")
    assert not set(shown) & {"\x1b", "\x07", "\x08", "\x9b", "\x9c", "\x9d", "\x90", "\u202e"}


def test_json_on_the_screen_holds_no_codes_and_reads_the_same() -> None:
    value = {"a": "\x1b[2J\x9b2J\u202e\u2028\x7f漢字"}
    shown = json_text(value)
    assert json.loads(shown) == value
    assert shown.isprintable()
    assert "漢字" in shown


def test_columns_stand_under_each_other_whatever_is_in_them() -> None:
    lines = list(table([("heron", 1), ("千鳥", 2), ("é", 3), ("e\u0301", 4)], ("AGENT", "N")))
    assert lines == ["AGENT  N", "heron  1", "千鳥   2", "é      3", "e\u0301      4"]
