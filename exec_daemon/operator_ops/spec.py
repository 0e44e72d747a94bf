"""An operator's op as it stands in `box.toml`, read. Only tables in which nothing is wrong are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import Any

from exec_daemon.program_spec import ProgramSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class ArgumentSpec:
    """One argument. `minimum` and `maximum` are of an integer; lengths are in characters.

    `word` is what a true boolean puts into its place. `below` is the folder that a path lies in.
    `dash` allows a value that begins with `-`, where the program cannot take it for an option.
    """

    name: str
    type: str = "string"
    description: str = ""
    required: bool = True
    choices: tuple[str, ...] = ()
    pattern: str | None = None
    max_length: int = 256
    multiline: bool = False
    dash: bool = False
    minimum: int = 0
    maximum: int = 2**53
    word: str = ""
    below: str = ""
    example: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OpSpec(ProgramSpec):
    """One op. `exit_codes` says what an exit code means: an error code or `ok`; `sandbox` what is around."""

    summary: str
    side_effecting: bool = True
    arguments: tuple[ArgumentSpec, ...] = ()
    stdin: str = ""
    time_limit_s: float = 20.0
    output: str = "text"
    exit_codes: Mapping[int, str] = field(default_factory=lambda: MappingProxyType({}))
    approval: bool = False
    sandbox: str = "layers"


_AS: dict[str, Any] = {
    "argv": tuple,
    "choices": tuple,
    "readable": tuple,
    "writable": tuple,
    "exit_codes": lambda codes: MappingProxyType({int(code): meaning for code, meaning in codes.items()}),
    "environment": lambda variables: MappingProxyType(dict(variables)),
    "arguments": lambda arguments: tuple(
        ArgumentSpec(name=name, **_read(keys)) for name, keys in arguments.items()
    ),
    "time_limit_s": float,
}
# Keys of `box.toml` that are words of Python.
_RENAMED = {"min": "minimum", "max": "maximum"}


def _read(keys: Mapping[str, Any]) -> dict[str, Any]:
    return {_RENAMED.get(key, key): _AS.get(key, lambda same: same)(value) for key, value in keys.items()}


def specs(table: Mapping[str, Mapping[str, Any]]) -> tuple[OpSpec, ...]:
    """The ops of `[ops]`, in the order of the file."""
    return tuple(OpSpec(name=name, **_read(keys)) for name, keys in table.items())


KEYS: tuple[str, ...] = tuple(each.name for each in fields(OpSpec) if each.name != "name")
