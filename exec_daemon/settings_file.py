"""A section of the settings file, for a list of ops that is made without a daemon (O-51)."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from typing import Any

from exec_daemon.errors import RuleUnusable
from exec_daemon.home import settings_file


def section(
    environment: Mapping[str, str], name: str, problem: Callable[[Mapping[str, Any]], object | None]
) -> Mapping[str, Any]:
    """The table of this name, empty without one. Raises `DaemonError` where it is not right."""
    path = settings_file(environment)
    try:
        table: Mapping[str, Any] = tomllib.loads(path.read_text(encoding="utf-8")).get(name, {})
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as broken:
        raise RuleUnusable(f"{path}: cannot be read: {broken}", str(path)) from None
    wrong = problem(table)
    if wrong is not None:
        raise RuleUnusable(f"{path}: `{name}`: {wrong}; `box config check` names the line", str(path))
    return table
