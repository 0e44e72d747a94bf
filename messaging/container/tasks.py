"""The files of `tasks/`: operations on tasks and groups, each a type of its own (T-60).

What an agent writes about itself, `createdBy` among it, is kept for the record and decides nothing (T-38).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, Final, Self

from messaging.container.fields import (
    Key,
    Table,
    WireError,
    flag,
    mapping,
    one_of,
    read_fields,
    some_text,
    text,
    write_fields,
)

SCHEDULE_TYPES: Final = ("cron", "interval", "once")


def _context(value: Any) -> str:
    """T-62: what is neither runs apart from the group's own session."""
    return "group" if value == "group" else "isolated"


_TASK_ID: Final = Key("taskId", some_text, required=True)
_TIMESTAMP: Final = Key("timestamp", text)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Operation:
    """Root of the operations; `TYPE` is the tag, `KEYS` the table of the fields."""

    TYPE: ClassVar[str]
    KEYS: ClassVar[Table]

    timestamp: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The tag and what is set."""
        return {"type": self.TYPE} | write_fields(self.KEYS, self)

    @classmethod
    def from_json(cls, document: Any) -> Self:
        """Raises `WireError`."""
        return cls(**read_fields(cls.KEYS, document))


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleTask(_Operation):
    """A new task. Without `task_id` the host names it."""

    TYPE: ClassVar = "schedule_task"
    KEYS: ClassVar = {
        "task_id": Key("taskId", some_text),
        "prompt": Key("prompt", some_text, required=True),
        "script": Key("script", text),
        "schedule_type": Key("schedule_type", one_of(*SCHEDULE_TYPES), required=True),
        "schedule_value": Key("schedule_value", some_text, required=True),
        "context_mode": Key("context_mode", _context),
        "target_jid": Key("targetJid", some_text, required=True),
        "created_by": Key("createdBy", text),
        "timestamp": _TIMESTAMP,
    }

    prompt: str
    schedule_type: str
    schedule_value: str
    target_jid: str
    task_id: str | None = None
    script: str | None = None
    context_mode: str | None = None
    created_by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _OnTask(_Operation):
    KEYS: ClassVar = {"task_id": _TASK_ID, "timestamp": _TIMESTAMP}

    task_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PauseTask(_OnTask):
    """No run until it is resumed."""

    TYPE: ClassVar = "pause_task"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumeTask(_OnTask):
    """Runs again, from the next due time on."""

    TYPE: ClassVar = "resume_task"


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelTask(_OnTask):
    """Gone."""

    TYPE: ClassVar = "cancel_task"


@dataclass(frozen=True, slots=True, kw_only=True)
class UpdateTask(_OnTask):
    """Changes what is given. An empty script takes the script away (T-64)."""

    TYPE: ClassVar = "update_task"
    KEYS: ClassVar = {
        "task_id": _TASK_ID,
        "prompt": Key("prompt", some_text),
        "script": Key("script", text),
        "schedule_type": Key("schedule_type", one_of(*SCHEDULE_TYPES)),
        "schedule_value": Key("schedule_value", some_text),
        "timestamp": _TIMESTAMP,
    }

    prompt: str | None = None
    script: str | None = None
    schedule_type: str | None = None
    schedule_value: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshGroups(_Operation):
    """Write the list of groups anew."""

    TYPE: ClassVar = "refresh_groups"
    KEYS: ClassVar = {"timestamp": _TIMESTAMP}


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterGroup(_Operation):
    """A chat becomes a group. There is no `isMain` here: no file can make one (T-54)."""

    TYPE: ClassVar = "register_group"
    KEYS: ClassVar = {
        "jid": Key("jid", some_text, required=True),
        "name": Key("name", some_text, required=True),
        "folder": Key("folder", some_text, required=True),
        "trigger": Key("trigger", some_text, required=True),
        "requires_trigger": Key("requiresTrigger", flag),
        "container_config": Key("containerConfig", mapping),
        "timestamp": _TIMESTAMP,
    }

    jid: str
    name: str
    folder: str
    trigger: str
    requires_trigger: bool | None = None
    container_config: dict[str, Any] | None = None


TaskOperation = (
    ScheduleTask | PauseTask | ResumeTask | CancelTask | UpdateTask | RefreshGroups | RegisterGroup
)

_ALL: Final = (ScheduleTask, PauseTask, ResumeTask, CancelTask, UpdateTask, RefreshGroups, RegisterGroup)
OPERATIONS: Final[Mapping[str, type[TaskOperation]]] = MappingProxyType({one.TYPE: one for one in _ALL})


def read_task(document: Any) -> TaskOperation:
    """The operation; raises `WireError`, also for a type that is none of these (T-66)."""
    tag = mapping(document).get("type")
    if not isinstance(tag, str) or tag not in OPERATIONS:
        raise WireError(f"must be one of {', '.join(OPERATIONS)}", "type")
    return OPERATIONS[tag].from_json(document)
