"""The port behind which agents run. `child.ChildAgents` starts processes; tests have an agent in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from signal import Signals
from typing import Any, Protocol

from messaging.rpc import RpcCode


class NotOpened(Exception):
    """The agent did not come up; `code` says how (TASK_BOOTSTRAP_FAILED or ENVELOPE_REQUIRED)."""

    def __init__(self, code: RpcCode, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """What is started: argv, where, and what it is told by its environment."""

    argv: Sequence[str]
    folder: Path | None = None
    variables: Mapping[str, str] = field(default_factory=dict)


class Audience(Protocol):
    """Who hears an agent, on the event loop. Neither method waits, so nobody can block an agent (J-32)."""

    def said(self, event: str, payload: Mapping[str, Any]) -> None:
        """One event, in order; none before the agent introduced itself."""
        ...

    def ended(self, exit_code: int | None) -> None:
        """The process is gone, asked or not; nothing comes after this."""
        ...


class Agent(Protocol):
    """An agent that runs and has introduced itself."""

    @property
    def capabilities(self) -> frozenset[str]:
        """What it says it can do."""
        ...

    @property
    def has_ended(self) -> bool:
        """Has its process ended?"""
        ...

    @property
    def listens(self) -> bool:
        """False where it is gone, or has not read what it was told."""
        ...

    def tell(self, kind: str, payload: Mapping[str, Any]) -> None:
        """Hands it one request, without waiting until it is read."""
        ...

    def signal(self, number: Signals) -> None:
        """To the process and all that it started."""
        ...

    async def stop(self) -> None:
        """TERM, and KILL for what is still there then."""
        ...


class TaskRuntime(Protocol):
    """Where agents run."""

    async def open(self, opening: Opening, audience: Audience) -> Agent:
        """Starts one and waits until it has introduced itself. Raises `NotOpened`."""
        ...
