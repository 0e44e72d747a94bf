"""What `box doctor` says of MCP servers and traces."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from exec_daemon.home import prepare
from exec_daemon.mcp_servers.pins import Pin, keep
from inband.examine_extras import examine
from inband.finding import Finding, Grade
from inband.settings import load

TOML = """
[mcp.notes]
command = ["notes"]
tools = ["search", "write"]

[traces]
endpoint = "http://127.0.0.1:4318"
"""


def findings(tmp_path: Path, toml: str = TOML) -> dict[str, Finding]:
    (tmp_path / "box.toml").write_text(toml)
    environment = {"BOX_CONFIG": str(tmp_path / "box.toml"), "BOX_HOME": str(tmp_path / "home")}
    return {found.subject: found for found in examine(load(environment, {}))}


def test_nothing_is_said_where_nothing_is_asked_for(tmp_path: Path) -> None:
    assert findings(tmp_path, "") == {}


def test_tools_that_are_not_approved_are_named_with_the_command_that_does_it(tmp_path: Path) -> None:
    home = prepare(tmp_path / "home")
    keep(home, "notes", [Pin("search", "", {}, read_only=True)])
    found = findings(tmp_path)
    assert found["mcp notes"].grade is Grade.WARN
    assert (found["mcp notes"].found, found["mcp notes"].mend) == (
        "not approved, so no ops: write",
        "box mcp approve notes",
    )
    keep(home, "notes", [Pin(tool, "", {}, read_only=True) for tool in ("search", "write")])
    assert {one.grade for one in findings(tmp_path).values()} == {Grade.OK}


def test_pins_that_cannot_be_read_are_a_failure(tmp_path: Path) -> None:
    home = prepare(tmp_path / "home")
    keep(home, "notes", [])
    (home.root / "mcp" / "notes.json").write_text("{")
    assert findings(tmp_path)["mcp notes"].grade is Grade.FAIL


def test_an_extra_that_is_missing_is_said_with_its_installation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    found = findings(tmp_path)
    assert (found["mcp"].grade, found["mcp"].mend) == (Grade.FAIL, "pip install 'inband[mcp]'")
    assert found["otel"].mend == "pip install 'inband[otel]'"
