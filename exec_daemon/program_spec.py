"""What every table of `box.toml` says that names a program of the operator's: ops, and gates of timers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramSpec:
    """`argv` is run as it stands, never by a shell. The rest says where, and what it may do on this machine.

    An empty `network` or `user` is what `[sandbox]` says.
    """

    name: str
    argv: tuple[str, ...]
    time_limit_s: float
    folder: str = "/"
    environment: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    readable: tuple[str, ...] = ()
    writable: tuple[str, ...] = ()
    network: str = ""
    user: str = ""
    confined: bool = True
