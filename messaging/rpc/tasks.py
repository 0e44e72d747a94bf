"""The states of a task, and which step leads from one to another (J-24). `_MOVES` is the whole table.

A task is one agent's process: `ready` once the agent introduced itself, `active` while a prompt is in flight,
`idle` between prompts. `stopped` was asked for, `errored` was not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Final

# It names things in lists and logs; separators and dots would let it name files elsewhere (J-24).
_TASK_ID: Final = re.compile(r"[A-Za-z0-9_](?:\.?[A-Za-z0-9_:-])*")
_MOST_ID_CHARS: Final = 128


class TaskState(StrEnum):
    """Where a task stands."""

    MISSING = "missing"
    READY = "ready"
    ACTIVE = "active"
    IDLE = "idle"
    STOPPED = "stopped"
    ERRORED = "errored"


class Step(StrEnum):
    """What happens to a task."""

    OPEN = "open"
    PROMPT = "prompt"
    END = "end"
    STOP = "stop"
    DIE = "die"


_OPEN: Final = (TaskState.READY, TaskState.ACTIVE, TaskState.IDLE)
_CLOSED: Final = (TaskState.MISSING, TaskState.STOPPED, TaskState.ERRORED)

_MOVES: Final[Mapping[tuple[TaskState, Step], TaskState]] = MappingProxyType(
    {
        **{(state, Step.OPEN): TaskState.READY for state in _CLOSED},
        (TaskState.READY, Step.PROMPT): TaskState.ACTIVE,
        (TaskState.IDLE, Step.PROMPT): TaskState.ACTIVE,
        (TaskState.ACTIVE, Step.END): TaskState.IDLE,
        **{(state, Step.STOP): TaskState.STOPPED for state in (*_OPEN, TaskState.STOPPED, TaskState.ERRORED)},
        **{(state, Step.DIE): TaskState.ERRORED for state in _OPEN},
    }
)

# How `create_or_open_task` opened a task, by the state that it found (J-16, J-23).
MODES: Final = MappingProxyType(
    {TaskState.MISSING: "created", TaskState.STOPPED: "resumed", TaskState.ERRORED: "recovered"}
)


def moved(state: TaskState, step: Step) -> TaskState | None:
    """The state after the step; None where the step is not possible."""
    return _MOVES.get((state, step))


def is_open(state: TaskState) -> bool:
    """Does its process run?"""
    return state in _OPEN


def is_task_id(text: str) -> bool:
    """1 to 128 letters, digits, `_`, `-`, `:` and single dots, beginning with none of the marks."""
    return len(text) <= _MOST_ID_CHARS and _TASK_ID.fullmatch(text) is not None
