"""`[gates."mail"]` in `box.toml`: a program of the operator's that says whether a timer wakes its agent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType


@dataclass(frozen=True, slots=True, kw_only=True)
class GateSpec:
    """`argv` is run as it stands, never by a shell, and nothing of a call or a timer becomes a part of it.

    `agents` are globs of the names whose own timers may name it; operators' may in any case. What it may do
    on this machine is said as for an operator's op (`operator_ops/spec.py`).
    """

    name: str
    argv: tuple[str, ...]
    agents: tuple[str, ...] = ()
    time_limit_s: float = 30.0  # T-76
    folder: str = "/"
    environment: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    readable: tuple[str, ...] = ()
    writable: tuple[str, ...] = ()
    network: str = ""
    user: str = ""
    confined: bool = True
