"""The two snapshots in an agent's directory: tasks and groups (T-67), never written through a link (T-41)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from harvester.container.authorise import Known, Task
from harvester.container.groups import Groups, Source
from messaging.container.names import AVAILABLE_GROUPS, CURRENT_TASKS
from messaging.ipc import Folder


def write_snapshots(ipc: Folder, source: Source, known: Known, now: str) -> None:
    """Both files of a lane's directory; raises OSError."""
    ipc.write(CURRENT_TASKS, _json(tasks_for(source, known.groups, known.tasks)))
    ipc.write(AVAILABLE_GROUPS, _json({"groups": groups_for(source, known.groups), "lastSync": now}))


def tasks_for(source: Source, groups: Groups, tasks: Sequence[Task]) -> list[dict[str, Any]]:
    """All for main, their own for others."""
    mine = [task for task in tasks if source.is_main or source.agent in (task.maker, task.agent)]
    return [_row(task, groups) for task in mine]


def _row(task: Task, groups: Groups) -> dict[str, Any]:
    group = groups.of_agent(task.agent)
    row = task.row
    shown = {
        "id": task.name or task.id,
        "groupFolder": group.folder if group else task.agent,
        "prompt": row.get("prompt"),
        "script": row.get("script"),
        "schedule_type": row.get("schedule_type"),
        "schedule_value": row.get("schedule"),
        "status": row.get("state"),
        "next_run": row.get("next_due"),
    }
    return {key: value for key, value in shown.items() if value is not None or key == "next_run"}


def groups_for(source: Source, groups: Groups) -> list[dict[str, Any]]:
    """All for main, none for others."""
    return list(_groups(groups)) if source.is_main else []


def _groups(groups: Groups) -> Iterator[dict[str, Any]]:
    for group in groups:
        yield {"jid": group.jid, "name": group.name, "lastActivity": None, "isRegistered": True}


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, indent=2).encode("utf-8", "replace")
