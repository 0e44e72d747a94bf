"""What is done to a task that there is: each function is one command (docs/rpc.md)."""

from __future__ import annotations

import signal
from collections.abc import Callable
from functools import partial
from typing import Any

from exec_daemon.rpc.command import Answer, Done, Run
from exec_daemon.rpc.payloads import Anything, Model, OfTask, Pause, Prompt, Switch
from exec_daemon.rpc.port import Agent
from exec_daemon.rpc.runtime import Runtime
from exec_daemon.rpc.task import Task
from messaging.rpc import RpcCode, RpcError, Step, TaskState, moved, rpc_error


def of_running(act: Callable[[Runtime, Task, Agent, Any], Answer]) -> Run:
    """The command as `act` does it to a task whose agent runs."""

    async def run(runtime: Runtime, wanted: Any) -> Answer:
        found = runtime.running(wanted.task_id)
        if isinstance(found, RpcError):
            return found
        task, agent = found
        if not agent.listens:
            return rpc_error(RpcCode.BUSY, f"The agent of {task.id} does not read what it is told.")
        return act(runtime, task, agent, wanted)

    return run


def switch(runtime: Runtime, task: Task, _agent: Agent, _wanted: Switch) -> Answer:
    """Makes it the active one."""
    runtime.active = task.id
    said = (partial(runtime.say, task, "task_switch_started"), partial(runtime.say, task, "task_ready"))
    return Done({"status": "switching", "taskId": task.id}, said)


def prompt(runtime: Runtime, task: Task, agent: Agent, wanted: Prompt) -> Answer:
    """Takes the prompt; the agent gets it behind the answer."""
    state = moved(task.state, Step.PROMPT)
    if state is None or task.paused is not None:
        why = f"is paused ({task.paused})" if task.paused else "has a prompt in flight"
        return rpc_error(RpcCode.TASK_NOT_READY, f"Task {task.id} {why}.")
    prompt_id = wanted.prompt_id or f"prompt-{runtime.log.last + 1}"
    task.state, task.prompt = state, prompt_id
    told = partial(agent.tell, "prompt", {"message": wanted.message, "promptId": prompt_id})
    if task.thread is not None:
        runtime.words.asked(task.thread, wanted.message)
    return Done({"accepted": True, "taskId": task.id, "promptId": prompt_id}, (told,))


async def stop(runtime: Runtime, wanted: OfTask) -> Answer:
    """Ends its process. Stopping what has stopped is stopping once."""
    task = runtime.chosen(wanted.task_id)
    if isinstance(task, RpcError):
        return task
    await runtime.stop(task)
    result = {"taskId": task.id, "state": str(TaskState.STOPPED)}
    return Done(result, (partial(runtime.say, task, "task_stopped"),))


def pause(runtime: Runtime, task: Task, agent: Agent, wanted: Pause) -> Answer:
    """Holds it until `resume`."""
    if task.paused is None:
        runtime.pause(task, agent, wanted.reason)
    return Done({"taskId": task.id, "paused": task.paused})


def resume(runtime: Runtime, task: Task, agent: Agent, _wanted: OfTask) -> Answer:
    """Lets it go on."""
    if task.paused is not None:
        runtime.resume(task, agent)
    return Done({"taskId": task.id, "paused": None})


def cancel(_runtime: Runtime, task: Task, agent: Agent, _wanted: OfTask) -> Answer:
    """Of the prompt in flight. An agent that cannot be told gets what a terminal's Ctrl-C would send."""
    running = task.state is TaskState.ACTIVE
    if running and "cancel" in agent.capabilities:
        agent.tell("cancel", {"promptId": task.prompt})
    elif running:
        agent.signal(signal.SIGINT)
    return Done({"taskId": task.id, "promptId": task.prompt, "cancelled": running})


def set_model(_runtime: Runtime, task: Task, agent: Agent, wanted: Model) -> Answer:
    """Tells the agent which model to use from now on."""
    agent.tell("set_model", {"model": wanted.model})
    task.model = wanted.model
    return Done({"taskId": task.id, "model": task.model})


def pass_on(_runtime: Runtime, task: Task, agent: Agent, wanted: Anything) -> Answer:
    """What a person answered to the agent's question, unread."""
    agent.tell("extension_ui_response", wanted.rest())
    return Done({"taskId": task.id})


async def system_bash(_runtime: Runtime, _wanted: Anything) -> Answer:
    """Refused to everybody."""
    text = "Nobody gets a shell here; box.exec looks at the machine."
    return rpc_error(RpcCode.FORBIDDEN, text)
