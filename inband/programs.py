"""`[ops]` and `[sandbox]` in `box.toml`: what the daemon runs, what is around it (docs/operator-ops.md)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any, Final, Protocol

from exec_daemon.operator_ops.spec import OpSpec, specs
from exec_daemon.operator_ops.table import problem
from exec_daemon.programs.program import Network
from exec_daemon.programs.sandbox import LAYERS, Sandbox

ops_problem = problem


def ops(table: Mapping[str, Mapping[str, Any]]) -> tuple[OpSpec, ...]:
    """The ops of a table in which nothing is wrong."""
    return specs(table)


def require_problem(layers: list[str]) -> str | None:
    """A layer that nobody knows would never be missed."""
    unknown = [layer for layer in layers if layer not in LAYERS]
    return f"{unknown[0]!r} is no layer; there are {', '.join(LAYERS)}" if unknown else None


def paths_problem(paths: list[str]) -> str | None:
    """Relative to what? The daemon's folder means nothing to a program."""
    wrong = [path for path in paths if not path.startswith("/") or ".." in PurePosixPath(path).parts]
    return f"{wrong[0]!r} is no absolute path" if wrong else None


def network_problem(network: str) -> str | None:
    """One of three words."""
    return None if network in tuple(Network) else f"must be {', '.join(Network)}"


class _Settings(Protocol):
    def __getitem__(self, name: str) -> Any: ...


_LISTS: Final = ("require", "readable", "writable")
_VALUES: Final = (
    *("network", "user", "places"),
    *("memory_bytes", "file_bytes", "processes", "cpu_s", "open_files"),
)


def sandbox(settings: _Settings) -> Sandbox:
    """`[sandbox]` of settings in which nothing is wrong; keys as in the table of settings."""
    lists: dict[str, Any] = {key: tuple(settings[f"sandbox.{key}"]) for key in _LISTS}
    return Sandbox(**lists, **{key: settings[f"sandbox.{key}"] for key in _VALUES})
