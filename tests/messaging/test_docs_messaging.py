"""docs/messaging.md is a test: its tool is run, its tables are those of the code."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from messaging import EXIT_OF_CODE, EventType, sign
from messaging.event_schema import SCHEMA, Envelope
from messaging.sinks import SINKS
from messaging.sources import read_lines

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "messaging.md").read_text(encoding="utf-8")
PROGRAMS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def run_the_tool(folder: Path, *words: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    (folder / "tool.py").write_text(PROGRAMS[0])
    variables = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)} | environment
    argv = [sys.executable, str(folder / "tool.py"), *words]
    return subprocess.run(argv, env=variables, capture_output=True, check=False, timeout=60)


@pytest.mark.parametrize(
    ("words", "exit_code", "told"),
    [
        (["soup"], 0, ["accepted", "progress", "succeeded"]),
        (["nothing"], 4, ["accepted", "progress", "failed"]),
        ([], 2, ["failed"]),
    ],
)
def test_the_tool_of_the_page_works(
    tmp_path: Path, words: list[str], exit_code: int, told: list[str]
) -> None:
    done = run_the_tool(tmp_path, *words, BOX_TRANSPORT="events")
    assert done.returncode == exit_code
    assert [str(one.type) for one in read_lines(done.stdout)] == told
    if not exit_code:
        assert run_the_tool(tmp_path, *words).stdout == b'{\n  "word": "SOUP"\n}\n'


def test_the_signature_of_the_page_is_checked() -> None:
    names: dict[str, object] = {}
    exec(PROGRAMS[2], names)
    is_ours = names["is_ours"]
    assert callable(is_ours)
    assert is_ours("s", b"body", {"X-Signature": sign("s", b"body")})
    assert not is_ours("s", b"body", {})


def first_cells(after: str) -> list[str]:
    table = PAGE[PAGE.index(after) :].split("\n\n")[0]
    return re.findall(r"^\| `([^`]+)` \|", table, re.MULTILINE)


def test_the_page_knows_every_event_and_every_transport() -> None:
    assert first_cells("| type | its fields |") == [str(kind) for kind in EventType]
    assert first_cells("| `BOX_TRANSPORT` |")[1:] == list(SINKS)


@pytest.mark.parametrize("kind", EventType)
def test_the_page_names_every_field_of_an_event(kind: EventType) -> None:
    row = re.search(rf"^\| `{kind}` \| (.*) \|$", PAGE, re.MULTILINE)
    assert row is not None
    assert (
        set(re.findall(r"`(\w+)`", row[1])) == SCHEMA[kind].model_fields.keys() - Envelope.model_fields.keys()
    )


def test_the_page_names_every_exit_code() -> None:
    assert all(f"{number} `{code}`" in PAGE for code, number in EXIT_OF_CODE.items())
