"""What an op is: one row of the allowlist, and what its `run` gets and gives."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol, TypeAlias

from pydantic import BaseModel, ConfigDict

from exec_daemon.access.identity import Identity
from exec_daemon.gate_spec import GateSpec
from exec_daemon.store.effects import Effect
from exec_daemon.store.port import Store
from exec_daemon.store.sources import Clock, NewId, utc_now
from exec_daemon.workers.rules import WorkerRules
from messaging import ArtifactRef, CallError, OpInfo
from messaging.quick import quickly_made


class Arguments(BaseModel):
    """Root of the argument models: nothing is converted, nothing unknown gets in."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


@quickly_made
@dataclass(frozen=True, slots=True)
class Success:
    """An op that succeeded: its JSON, and the effects that commit together with the job's end.

    `text` is that JSON as the store keeps it, once somebody has written it.
    """

    data: Any
    effects: tuple[Effect, ...] = ()
    text: str | None = None


BoxRead: TypeAlias = Callable[[str, str | int | None, Identity], Awaitable[Any | CallError]]


class Keeper(Protocol):
    """Keeps content that no journal should hold. It belongs to a job by the effect `KeepArtifact`."""

    async def content(self, content: bytes, content_type: str) -> ArtifactRef:
        """Raises `ArtifactError`."""
        ...

    async def file(self, path: str, content_type: str | None) -> ArtifactRef | CallError:
        """A file of the box, or why it is not kept."""
        ...


@quickly_made
@dataclass(frozen=True, slots=True, kw_only=True)
class OpContext:
    """What an op may use. `identity` is the effective one; `thread` is where the call stood, in `reply`.

    `ops_for` gives the registry as an identity may use it, for its envelope.
    """

    identity: Identity
    job_id: str
    thread: str | None
    store: Store
    new_id: NewId
    ops: tuple[OpInfo, ...]
    may: Callable[[str], bool]
    box: BoxRead
    keep: Keeper
    clock: Clock = utc_now
    reply: str | None = None
    workers: WorkerRules = field(default_factory=WorkerRules)
    gates: Mapping[str, GateSpec] = field(default_factory=lambda: MappingProxyType({}))
    ops_for: Callable[[Identity], Sequence[OpInfo]] = lambda _: ()


Ended: TypeAlias = Success | CallError


@dataclass(frozen=True, slots=True, kw_only=True)
class Op:
    """One op. `example` is an arguments object that it accepts.

    `effects_inside` says that all it changes is among `Success.effects`, so that a run that did not end did
    nothing. `check` refuses, without I/O, what a JSON Schema cannot say. `pair` names who sends to whom
    where that pair has a rate of its own. `at_once` says that it changes nothing and waits for nothing, no
    disk either: it runs without a task and a time limit of its own. `actions` is for `box.exec` (O-53). An op
    without a flag counts as side-effecting; `approval` says that a person approves each call (O-36).
    `definition` is what else makes the op what it is, such as an operator's argv: nobody sees it, its digest
    changes with it.
    """

    name: str
    summary: str
    side_effecting: bool = True
    arguments: type[Arguments]
    example: Mapping[str, Any]
    run: Callable[[Any, OpContext], Coroutine[Any, Any, Ended]]
    approval: bool = False
    definition: str = ""
    effects_inside: bool = True
    at_once: bool = False
    time_limit_s: float = 20.0  # O-32
    check: Callable[[Any], CallError | None] = lambda _: None
    pair: Callable[[Identity, Any], str | None] = lambda _, __: None
    actions: tuple[tuple[str, str | None], ...] = field(default=())

    @property
    def begins_at_once(self) -> bool:
        """It only asks our own store, so that mostly it has ended before it waits (`exec_daemon.eager`)."""
        return self.side_effecting and self.effects_inside

    @property
    def repeatable(self) -> bool:
        """A run that did not end did nothing, so another may follow."""
        return self.effects_inside or not self.side_effecting
