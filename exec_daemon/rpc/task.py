"""A task, as it stands and as the store keeps it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from exec_daemon.rpc.port import Agent
from exec_daemon.store import RpcTask
from messaging.rpc import TaskState


@dataclass(slots=True, kw_only=True)
class Task:
    """One task. `prompt` is the one in flight, `paused` the reason."""

    id: str
    provider: str
    model: str | None = None
    folder: str | None = None
    thread: str | None = None
    state: TaskState = TaskState.MISSING
    agent: Agent | None = None
    prompt: str | None = None
    paused: str | None = None

    def to_json(self) -> dict[str, Any]:
        """As `runtime_get_state` shows it."""
        return {
            "taskId": self.id,
            "state": str(self.state),
            "provider": self.provider,
            "model": self.model,
            "thread": self.thread,
            "promptId": self.prompt,
            "paused": self.paused,
        }


def from_store(task: RpcTask) -> Task:
    """A process does not outlive its daemon: what was not stopped has died with it (J-23)."""
    state = TaskState.STOPPED if task.state == TaskState.STOPPED else TaskState.ERRORED
    return Task(id=task.id, provider=task.provider, model=task.model, folder=task.folder, state=state)


def to_store(identity: str, task: Task) -> RpcTask:
    """What it needs to be opened again."""
    return RpcTask(
        identity=identity,
        id=task.id,
        provider=task.provider,
        model=task.model,
        folder=task.folder,
        state=str(task.state),
    )
