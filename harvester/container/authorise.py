"""May this group do that? Pure; the rules of T-50 to T-55. The daemon's grants decide as well, afterwards."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from harvester.container.groups import Groups, Source, agent_of
from messaging import CallError, ErrorCode, error
from messaging.container import (
    CancelTask,
    ChatMessage,
    PauseTask,
    RefreshGroups,
    RegisterGroup,
    ResumeTask,
    ScheduleTask,
    UpdateTask,
    is_folder,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A timer as the daemon lists it. `agent` is who it wakes, `maker` the agent that made it, if one did."""

    id: str
    name: str
    agent: str
    maker: str | None
    row: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What a decision may know."""

    groups: Groups
    tasks: Sequence[Task] = ()

    def task(self, task_id: str, source: Source) -> Task | None:
        """The task of this id or name that the source may touch; its own before those of others."""
        found = [task for task in self.tasks if task_id in (task.id, task.name) and _may_touch(source, task)]
        return min(found, key=lambda task: task.maker != source.agent, default=None)


def _may_touch(source: Source, task: Task) -> bool:
    """T-52. What a person set up for a group is the person's, as the daemon has it too."""
    return source.is_main or source.agent == task.maker


def _chat(source: Source, asked: ChatMessage, known: Known) -> CallError | None:
    """T-50."""
    group = known.groups.of_jid(asked.chat_jid)
    if source.is_main or (group is not None and group.folder == source.folder):
        return None
    return _forbidden("this group may write to its own chats only")


def _schedule(source: Source, asked: ScheduleTask, known: Known) -> CallError | None:
    """T-51, T-55."""
    group = known.groups.of_jid(asked.target_jid)
    if group is None:
        return error(ErrorCode.NOT_FOUND, "No group is registered for the targetJid.")
    if not source.is_main and group.folder != source.folder:
        return _forbidden("this group may make tasks for itself only")
    if any(asked.task_id in (task.id, task.name) for task in known.tasks):
        return error(ErrorCode.DUPLICATE_ID, "The taskId stands for another task. Choose a new one.")
    return None


def _on_task(
    source: Source, asked: PauseTask | ResumeTask | CancelTask | UpdateTask, known: Known
) -> CallError | None:
    """T-52: nobody learns from the answer whether a task of another group exists."""
    if known.task(asked.task_id, source) is None:
        return error(ErrorCode.NOT_FOUND, "There is no task of this taskId that this group may change.")
    return None


def _refresh(source: Source, _asked: RefreshGroups, _known: Known) -> CallError | None:
    """T-53."""
    return None if source.is_main else _forbidden("only the main group may refresh the list of groups")


def _register(source: Source, asked: RegisterGroup, known: Known) -> CallError | None:
    """T-53, T-54. Two folders with one agent would be one identity with two faces."""
    if not source.is_main:
        return _forbidden("only the main group may register groups")
    if not is_folder(asked.folder):
        return error(
            ErrorCode.INVALID_ARGS, "folder: 1 to 64 letters, digits, _ and -, and no reserved name."
        )
    same = known.groups.of_agent(agent_of(asked.folder))
    if same is not None and same.folder != asked.folder:
        return error(ErrorCode.DUPLICATE_ID, f"folder: differs from {same.folder!r} in capitals only.")
    before = known.groups.of_jid(asked.jid)
    if before is not None and before.is_main and before.folder != asked.folder:
        return _forbidden("the main group's chat cannot be given to another folder")
    return None


_RULES: Final[Mapping[type, Callable[[Source, Any, Known], CallError | None]]] = MappingProxyType(
    {
        ChatMessage: _chat,
        ScheduleTask: _schedule,
        PauseTask: _on_task,
        ResumeTask: _on_task,
        CancelTask: _on_task,
        UpdateTask: _on_task,
        RefreshGroups: _refresh,
        RegisterGroup: _register,
    }
)


def authorise(source: Source, asked: object, known: Known) -> CallError | None:
    """Why the group may not, or None. What no rule speaks of is refused."""
    rule = _RULES.get(type(asked))
    return rule(source, asked, known) if rule else _forbidden("there is no rule for this operation")


def _forbidden(reason: str) -> CallError:
    return error(ErrorCode.FORBIDDEN, f"Not allowed: {reason}.", details={"rule": "container groups"})
