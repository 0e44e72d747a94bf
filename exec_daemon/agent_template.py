"""What an operator says of an agent that may be started: `[agents."heron"]` in `box.toml`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentTemplate:
    """`argv` is run as it stands, never by a shell. It speaks the envelope (J-27).

    Working folders have to lie within `folder`; without one the agent works where the daemon does.
    A task that cost more than `budget_usd` is paused (J-21). `models` are shown to who asks for them.
    """

    name: str
    argv: tuple[str, ...]
    folder: Path | None = None
    models: tuple[str, ...] = ()
    budget_usd: float | None = None
