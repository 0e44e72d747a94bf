"""Workers, and the one way in which they change: a step (O 7.2, D124, D125).

A store keeps what it is given, except that it counts: a step that starts workers has a budget, which is
compared with what is there at the moment of the commit. Times are UTC, ISO 8601 with milliseconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from exec_daemon.store.timer_values import Post, TimerStep


class WorkerState(StrEnum):
    """Where a worker stands. `ready` waits for messages, `running` works on one."""

    WANTED = "wanted"
    STARTING = "starting"
    READY = "ready"
    RUNNING = "running"
    STOPPING = "stopping"
    ENDED = "ended"
    FAILED = "failed"


OVER: Final = frozenset({WorkerState.ENDED, WorkerState.FAILED})
ALIVE: Final = tuple(state for state in WorkerState if state not in OVER)

# What a host may say of a worker in each state; what is not here is answered with how the worker stands.
NEXT: Final[Mapping[WorkerState, frozenset[WorkerState]]] = MappingProxyType(
    {
        WorkerState.WANTED: frozenset(WorkerState) - {WorkerState.WANTED},
        WorkerState.STARTING: frozenset(WorkerState) - {WorkerState.WANTED},
        WorkerState.READY: frozenset(WorkerState) - {WorkerState.WANTED},
        WorkerState.RUNNING: frozenset(WorkerState) - {WorkerState.WANTED},
        WorkerState.STOPPING: frozenset({WorkerState.STOPPING}) | OVER,
        WorkerState.ENDED: frozenset(),
        WorkerState.FAILED: frozenset(),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """A worker. `owner` is the identity that spawned it, `root` the one at the head of the chain.

    `told` is the owner's thread, which hears how it ended. `session` is the agent's own (A-08) or that of
    tmux. `version` grows with each change; a heartbeat is none.
    """

    id: str
    name: str
    owner: str
    root: str
    depth: int
    template: str
    runtime: str
    thread: str
    job: str
    created_at: str
    updated_at: str
    state: WorkerState = WorkerState.WANTED
    cwd: str | None = None
    told: str | None = None
    reason: str | None = None
    session: str | None = None
    heartbeat_at: str | None = None
    ended_at: str | None = None
    version: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """How many workers there may be: alive and started since a moment for one root, alive of one template."""

    since: str
    most_alive: int
    most_started: int
    most_of_template: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerStep:
    """Changes of workers and all that goes with them, committed together or not at all.

    `added` are of one root and one template, and fit the `budget`. Each of `changed` follows from the
    version before its own.
    """

    added: tuple[Worker, ...] = ()
    budget: Budget | None = None
    changed: tuple[Worker, ...] = ()
    steps: tuple[TimerStep, ...] = ()
    posts: tuple[Post, ...] = ()
