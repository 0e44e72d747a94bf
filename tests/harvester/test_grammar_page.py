"""The page on the grammar says what parse does: each example is followed by what it runs."""

import json
import re
from pathlib import Path

import pytest

from harvester import parse

PAGE = (Path(__file__).parents[2] / "docs" / "grammar.md").read_text(encoding="utf-8")
EXAMPLE = re.compile(r"^````markdown\n(?P<text>.*?)\n````\n\n(?P<outcome>.*?)\n\n", re.DOTALL | re.MULTILINE)


def outcome(text: str) -> str:
    """What the page says of a reply that parses like this one."""
    parsed = parse(text)
    calls = [
        f"{found.call.op} {json.dumps(dict(found.call.args), ensure_ascii=False)}" for found in parsed.calls
    ]
    if parsed.verdict is not None:
        return f"Verdict {parsed.verdict.word}"
    return f"Runs {', '.join(f'`{call}`' for call in calls)}" if calls else "Runs nothing."


@pytest.mark.parametrize("example", list(EXAMPLE.finditer(PAGE)), ids=lambda example: example["text"][:30])
def test_an_example_does_what_the_page_says(example):
    assert outcome(example["text"]) == example["outcome"].replace("\n", " ")


def test_every_example_has_an_outcome():
    assert len(EXAMPLE.findall(PAGE)) == PAGE.count("````markdown")
