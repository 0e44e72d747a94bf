"""Tools as the operator approved them, kept in the state directory: name, words, schema and flag of each.

What an agent is told of a tool comes from here and never straight from the server, so that a server cannot
speak to agents through the description of a tool that it changes after it was looked at.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from exec_daemon.errors import DaemonError
from exec_daemon.home import Home, write_private
from messaging import digest


class PinsUnreadable(DaemonError):
    """The file of approved tools is damaged."""


@dataclass(frozen=True, slots=True)
class Pin:
    """One tool. `read_only` is what the server says of it."""

    tool: str
    description: str
    schema: Mapping[str, Any]
    read_only: bool

    @property
    def sha256(self) -> str:
        """Changes with anything that was approved."""
        return digest(self.tool, self.to_json())

    def to_json(self) -> dict[str, Any]:
        """All fields."""
        return {
            "tool": self.tool,
            "description": self.description,
            "schema": dict(self.schema),
            "read_only": self.read_only,
        }


def _file(home: Home, server: str) -> Path:
    return home.root / "mcp" / f"{server}.json"


def pins(home: Home, server: str) -> dict[str, Pin]:
    """What was approved of this server, by tool. Raises `PinsUnreadable`."""
    path = _file(home, server)
    try:
        rows = json.loads(path.read_bytes())["tools"]
        found = [Pin(one["tool"], one["description"], one["schema"], one["read_only"]) for one in rows]
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError) as broken:
        way_out = f"Delete it and approve the tools again: box mcp approve {server}"
        raise PinsUnreadable(f"{path} cannot be read ({broken}). {way_out}", str(path)) from None
    return {pin.tool: pin for pin in found}


def keep(home: Home, server: str, approved: Iterable[Pin]) -> None:
    """Replaces what was approved of this server."""
    path = _file(home, server)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    write_private(path, json.dumps({"tools": [pin.to_json() for pin in approved]}, indent=1).encode())
