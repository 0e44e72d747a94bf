"""Who is asking: a role and a name, as the transport proved them and never as a text claims (O-33)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import Final

# O 7.1 row 22: names of agents. Every identity's name has the same shape.
NAME: Final = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")


class Role(StrEnum):
    """What an identity is; `grants.ROLE_GRANTS` says what each may do (O 7.5)."""

    OPERATOR = "operator"
    AGENT = "agent"
    WORKER = "worker"
    VIEWER = "viewer"
    HARVESTER = "harvester"


@dataclass(frozen=True, slots=True)
class Identity:
    """`<role>/<name>`, such as `agent/heron`. Its text is put together once: each call asks for it again."""

    role: Role
    name: str
    _text: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_text", f"{self.role}/{self.name}")

    def __str__(self) -> str:
        return self._text

    def __hash__(self) -> int:
        return hash(self._text)


@lru_cache(maxsize=4096)
def identity(text: str) -> Identity | None:
    """The identity that `<role>/<name>` names; None when it is none."""
    role, _, name = text.partition("/")
    if role not in tuple(Role) or not NAME.fullmatch(name):
        return None
    return Identity(Role(role), name)
