"""From a file's operation to the call that does it (O 7.3). Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from harvester.container.authorise import Known, Task
from harvester.container.groups import Source
from messaging import Call
from messaging.container import (
    CancelTask,
    ChatMessage,
    PauseTask,
    ResumeTask,
    ScheduleTask,
    UpdateTask,
    is_file_name,
)

# T-61: the protocol's own shapes, which are narrower than what a timer takes.
_MILLISECONDS: Final = re.compile(r"[1-9][0-9]{0,14}")
_LOCAL_TIME: Final = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,6})?)?", re.ASCII)
_SHAPES: Final[Mapping[str, tuple[re.Pattern[str], str]]] = MappingProxyType(
    {
        "cron": (re.compile(r"\S+(\s+\S+){4}"), "five fields"),
        "interval": (_MILLISECONDS, "a positive number of milliseconds"),
        "once": (_LOCAL_TIME, "a local time such as 2026-12-01T09:00:00, without Z or offset"),
    }
)


@dataclass(frozen=True, slots=True)
class Errand:
    """A call, and for whom: the group's agent, or, for main and a foreign task, the operator."""

    call: Call
    as_operator: bool = False

    def to_json(self) -> dict[str, Any]:
        """As it is written down before it is run."""
        return {"op": self.call.op, "args": dict(self.call.args), "as_operator": self.as_operator}

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Errand:
        """The inverse of `to_json`."""
        return cls(Call(body["op"], body["args"]), body["as_operator"])


def schedule_problem(asked: object) -> str | None:
    """What is wrong with the schedule of an operation, if it has one."""
    if not isinstance(asked, ScheduleTask | UpdateTask):
        return None
    kind, value = asked.schedule_type, asked.schedule_value
    if value is None or kind is None:
        return None
    shape, meaning = _SHAPES[kind]
    return None if shape.fullmatch(value.strip()) else f"schedule_value: {kind} takes {meaning}"


def task_name(asked: ScheduleTask, file: str, at_ms: int, sha256: str) -> str:
    """T-63: the same whenever the same file is read again."""
    if asked.task_id:
        return asked.task_id
    stamp = file.removesuffix(".json") if is_file_name(file) else f"{at_ms:013d}-{sha256[:6]}"
    return f"task-{stamp}"


def _set(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}


def errand(source: Source, asked: object, known: Known, name: str = "") -> Errand | None:
    """What the daemon is asked; None where nobody can be addressed. `asked` has been authorised."""
    build = _BUILD.get(type(asked))
    return build(source, asked, known, name) if build else None


def _chat(_source: Source, asked: ChatMessage, known: Known, _name: str) -> Errand | None:
    group = known.groups.of_jid(asked.chat_jid)
    return Errand(Call("dm.send", {"to": group.agent, "text": asked.text})) if group else None


def _schedule(source: Source, asked: ScheduleTask, known: Known, name: str) -> Errand | None:
    group = known.groups.of_jid(asked.target_jid)
    if group is None:
        return None
    args = {
        "name": name,
        "prompt": asked.prompt,
        "script": asked.script or None,
        "schedule": asked.schedule_value,
        "schedule_type": asked.schedule_type,
        "context_mode": asked.context_mode or "isolated",  # T-62
        "target": group.agent,
    }
    return Errand(Call("cron.create", _set(args)), as_operator=group.folder != source.folder)


def _foreign(source: Source, task: Task) -> bool:
    return task.maker != source.agent


def _simple(op: str) -> Callable[[Source, Any, Known, str], Errand | None]:
    def build(source: Source, asked: Any, known: Known, _name: str) -> Errand | None:
        task = known.task(asked.task_id, source)
        return Errand(Call(op, {"id": task.id}), as_operator=_foreign(source, task)) if task else None

    return build


def _update(source: Source, asked: UpdateTask, known: Known, _name: str) -> Errand | None:
    task = known.task(asked.task_id, source)
    if task is None:
        return None
    args = {
        "id": task.id,
        "prompt": asked.prompt,
        "script": asked.script,  # "" takes it away (T-64)
        "schedule": asked.schedule_value,
        "schedule_type": asked.schedule_type,
    }
    return Errand(Call("cron.update", _set(args)), as_operator=_foreign(source, task))


_BUILD: Final[Mapping[type, Callable[[Source, Any, Known, str], Errand | None]]] = MappingProxyType(
    {
        ChatMessage: _chat,
        ScheduleTask: _schedule,
        PauseTask: _simple("cron.pause"),
        ResumeTask: _simple("cron.resume"),
        CancelTask: _simple("cron.cancel"),
        UpdateTask: _update,
    }
)
