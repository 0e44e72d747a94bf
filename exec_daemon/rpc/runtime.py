"""The tasks of one identity, and what happens to them; states change as `messaging.rpc.tasks` says."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from exec_daemon.agent_template import AgentTemplate
from exec_daemon.rpc.event_log import EventLog
from exec_daemon.rpc.port import Agent, NotOpened, Opening, TaskRuntime
from exec_daemon.rpc.task import Task
from exec_daemon.rpc.words import Words
from messaging.rpc import MODES, RpcCode, RpcError, Step, TaskState, is_open, moved, rpc_error

# What only the daemon says: an agent that says it is heard as output.
OURS: Final = frozenset(
    ("task_switch_started", "task_ready", "task_bootstrap_state", "task_stopped", "task_paused")
) | {"task_resumed", "lagged", "ready"}
_ENDS: Final = frozenset({"agent_end", "task_error"})
# A process each: more than one person watches at once.
_MOST_OPEN: Final = 16


class Runtime:
    """What the commands work with."""

    def __init__(
        self,
        *,
        log: EventLog,
        agents: TaskRuntime,
        templates: Mapping[str, AgentTemplate],
        keep: Callable[[Task], Awaitable[None]],
        tasks: Mapping[str, Task],
        words: Words,
    ) -> None:
        self.log = log
        self.words = words
        self.templates = templates
        self.tasks = dict(tasks)
        self.active: str | None = None
        self._agents = agents
        self._keep = keep
        self._opening: set[str] = set()

    def say(self, task: Task, event: str, **payload: Any) -> None:
        """One event about a task."""
        self.log.add(event, task.provider, {"taskId": task.id, **payload})

    def chosen(self, task_id: str | None) -> Task | RpcError:
        """The task of this id, or the active one."""
        wanted = task_id or self.active
        if wanted is None:
            return rpc_error(RpcCode.TASK_NOT_READY, "There is no active task; switch_task makes one active.")
        return self.tasks.get(wanted) or rpc_error(
            RpcCode.TASK_NOT_FOUND, f"There is no task {wanted[:128]!r}."
        )

    def running(self, task_id: str | None) -> tuple[Task, Agent] | RpcError:
        """The task and its agent, which runs."""
        task = self.chosen(task_id)
        if isinstance(task, RpcError):
            return task
        if task.agent is not None and is_open(task.state):
            return task, task.agent
        code = RpcCode.PI_PROCESS_DEAD if task.state is TaskState.ERRORED else RpcCode.TASK_NOT_READY
        return rpc_error(code, f"Task {task.id} is {task.state}; create_or_open_task opens it again.")

    def no_place(self, task_id: str) -> RpcError | None:
        """Why a task of this id cannot be opened now."""
        known = self.tasks.get(task_id)
        if task_id in self._opening or (known is not None and is_open(known.state)):
            return rpc_error(RpcCode.TASK_NOT_READY, f"Task {task_id} is open already.")
        taken = len(self._opening) + sum(is_open(task.state) for task in self.tasks.values())
        if taken >= _MOST_OPEN:
            return rpc_error(RpcCode.BUSY, f"{_MOST_OPEN} tasks are open; stop one.")
        return None

    async def open(self, task: Task, opening: Opening) -> str | RpcError:
        """Starts the task's agent; how it was opened (J-16)."""
        before = self.tasks[task.id].state if task.id in self.tasks else TaskState.MISSING
        self._opening.add(task.id)
        self.say(task, "task_bootstrap_state", status="pending", error=None)
        try:
            task.agent = await self._agents.open(opening, _Heard(self, task))
        except NotOpened as failed:
            self.say(task, "task_bootstrap_state", status="errored", error=str(failed))
            return rpc_error(failed.code, str(failed))
        finally:
            self._opening.discard(task.id)
        task.state = TaskState.READY
        self.tasks[task.id] = task
        self.active = self.active or task.id
        if task.agent.has_ended:  # between its first word and now
            self.died(task, None)
        await self._keep(task)
        return MODES[before]

    async def stop(self, task: Task) -> None:
        """Ends its agent; what it still says is heard."""
        agent, task.agent = task.agent, None
        task.state, task.prompt, task.paused = TaskState.STOPPED, None, None
        self.active = None if self.active == task.id else self.active
        if agent is not None:
            await agent.stop()
        await self._keep(task)

    async def close(self) -> None:
        """Ends all agents; the tasks are found errored by the next run, and can be recovered."""
        running = [task for task in self.tasks.values() if task.agent is not None]
        for task in running:
            task.state = TaskState.STOPPED
        await asyncio.gather(*(task.agent.stop() for task in running if task.agent is not None))
        await self.words.close()

    def pause(self, task: Task, agent: Agent, reason: str) -> None:
        """Asks an agent that can pause, and holds the process of one that cannot (J-21)."""
        if "pause" in agent.capabilities:
            agent.tell("pause", {"reason": reason})
        else:
            agent.signal(signal.SIGSTOP)
        task.paused = reason
        self.say(task, "task_paused", reason=reason)

    def resume(self, task: Task, agent: Agent) -> None:
        """The way back from `pause`."""
        if "pause" in agent.capabilities:
            agent.tell("resume", {})
        else:
            agent.signal(signal.SIGCONT)
        task.paused = None
        self.say(task, "task_resumed")

    def died(self, task: Task, exit_code: int | None) -> None:
        """Its process is gone and nobody asked for it (J-23)."""
        state = moved(task.state, Step.DIE)
        if state is None:
            return
        task.state, task.agent, task.paused = state, None, None
        prompt, task.prompt = task.prompt, None
        error = rpc_error(RpcCode.PI_PROCESS_DEAD, f"The agent's process ended with {exit_code}.")
        self.say(task, "task_error", promptId=prompt, **error.to_json())

    def heard(self, task: Task, event: str, payload: Mapping[str, Any]) -> None:
        """One event of an agent. Whose it is says the daemon, whatever the agent does."""
        if event in OURS:
            event, payload = "agent_output", {"chunk": f"{event}\n", "structured": False}
        mine = {**payload, "taskId": task.id} | ({"promptId": task.prompt} if task.prompt else {})
        text = payload.get("text")
        if event == "agent_end" and task.thread is not None and isinstance(text, str) and text.strip():
            self.words.answered(task.thread, task.provider, text)
        if event in _ENDS:
            task.state, task.prompt = moved(task.state, Step.END) or task.state, None
        self.log.add(event, task.provider, mine)
        if event == "cost_update":
            self._check_budget(task, payload.get("total_cost_usd"))

    def _check_budget(self, task: Task, cost_usd: object) -> None:
        template = self.templates.get(task.provider)
        most = template.budget_usd if template else None
        spent = cost_usd if isinstance(cost_usd, int | float) else 0.0
        if most is not None and spent > most and task.agent is not None and task.paused is None:
            self.pause(task, task.agent, "budget_exceeded")


@dataclass(frozen=True, slots=True)
class _Heard:
    """The audience of one task's agent."""

    runtime: Runtime
    task: Task

    def said(self, event: str, payload: Mapping[str, Any]) -> None:
        self.runtime.heard(self.task, event, payload)

    def ended(self, exit_code: int | None) -> None:
        self.runtime.died(self.task, exit_code)
