"""docs/adapters.md is a test: its tables are those of the code, and its example is an adapter."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from harvester.adapters import ADAPTERS, Adapter, AgentEvent, FailureKind
from harvester.adapters.failure import RETRYABLE

PAGE = (Path(__file__).parents[3] / "docs" / "adapters.md").read_text(encoding="utf-8")


def rows(title: str) -> list[list[str]]:
    """The cells of the table under a heading, or of the one whose header begins with `title`."""
    table = PAGE.partition(f"| {title} |")[2].partition("\n\n")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]


def resumed(adapter: Adapter) -> str:
    if adapter.resume is None:
        return "-"
    added = f"`{' '.join(adapter.resume.words).format('ID')}`"
    return f"{added} behind `{adapter.resume.behind}`" if adapter.resume.behind else added


def test_every_adapter_has_a_row_with_its_command_and_how_it_resumes() -> None:
    shown = {row[0]: (row[1].replace("`", ""), row[-1]) for row in rows("adapter")}
    real = {f"`{name}`": (one.command.replace("`", ""), resumed(one)) for name, one in ADAPTERS.items()}
    assert shown == real


def test_every_kind_of_failure_has_a_row_that_says_whether_to_try_again() -> None:
    shown = {row[0].strip("`"): row[2].startswith("yes") for row in rows("kind of failure")}
    assert shown == {kind.value: kind in RETRYABLE for kind in FailureKind}


def test_every_event_is_explained() -> None:
    shown = {name for row in rows("event") for name in re.findall(r"`(\w+)`", row[0])}
    assert shown == {event.kind for event in AgentEvent.__subclasses__()}


@pytest.fixture
def heron() -> Adapter:
    """The adapter of the page."""
    [source] = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, Any] = {}
    exec(source, names)
    found = names["HERON"]
    assert isinstance(found, Adapter)
    return found


@pytest.mark.parametrize(
    ("line", "kinds"),
    [
        ('{"type": "hello", "id": "h1"}', ["session_started"]),
        ('{"type": "said", "text": "hi"}', ["text"]),
        ('{"type": "tick"}', []),
        ('{"type": "end"}', ["turn_end"]),
        ('{"type": "end", "problem": "rate limit"}', ["turn_end"]),
        ('{"type": "said", "text": 1}', ["text"]),
        ("not JSON", ["output"]),
    ],
)
def test_the_example_of_the_page_is_an_adapter(heron: Adapter, line: str, kinds: list[str]) -> None:
    assert [event.kind for event in heron.read(line)] == kinds


def test_the_envelope_of_the_page_is_understood() -> None:
    # J-27
    lines = "".join(re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)).splitlines()
    kinds = [event.kind for line in lines for event in ADAPTERS["envelope"].read(line)]
    assert kinds == ["ready", "text_delta", "cost_update", "turn_end", "text"]
