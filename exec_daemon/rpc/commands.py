"""Every command: what it takes, whether it changes something, what it does. `COMMANDS` is the table."""

from __future__ import annotations

import signal
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice
from types import MappingProxyType
from typing import Any, Final

from exec_daemon.agent_template import AgentTemplate
from exec_daemon.rpc.payloads import (
    Anything,
    Model,
    Nothing,
    OfTask,
    Open,
    Pause,
    Payload,
    Prompt,
    State,
    Switch,
)
from exec_daemon.rpc.port import Agent, Opening
from exec_daemon.rpc.runtime import Runtime, Task, folder_within
from messaging.rpc import RpcCode, RpcError, Step, TaskState, moved, rpc_error

# J-20.
_MOST_HISTORY: Final = 200
# An answer with replayed events stays below the longest line that a reader takes (J-01).
_MOST_REPLAYED_BYTES: Final = 1 << 19


@dataclass(frozen=True, slots=True)
class Done:
    """The result, and what happens once it is given: nothing that follows from it may come before it."""

    result: Mapping[str, Any]
    then: tuple[Callable[[], object], ...] = ()


Answer = Done | RpcError
Run = Callable[[Runtime, Any], Awaitable[Answer]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """`writes`: it changes something, so it happens once (J-13) and needs the grant."""

    payload: type[Payload]
    run: Run
    writes: bool = True


def _of_running(act: Callable[[Runtime, Task, Agent, Any], Answer]) -> Run:
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


async def _open(runtime: Runtime, wanted: Open) -> Answer:
    known = runtime.tasks.get(wanted.task_id)
    template = _template(runtime, wanted.provider or (known.provider if known else None))
    if isinstance(template, RpcError):
        return template
    written = wanted.working_folder or (known.folder if known else None)
    folder = folder_within(template, written)
    if isinstance(folder, RpcError):
        return folder
    if wanted.thread and (refused := await runtime.words.refusal(wanted.thread, template.name)):
        return refused
    if refused := runtime.no_place(wanted.task_id):
        return refused
    model = wanted.model or (known.model if known else None)
    task = Task(id=wanted.task_id, provider=template.name, model=model, folder=written, thread=wanted.thread)
    told = {
        "BOX_TASK_ID": task.id,
        "BOX_TASK_MODEL": model or "",
        "BOX_TASK_THINKING_LEVEL": wanted.thinking_level or "",
    }
    mode = await runtime.open(task, Opening(argv=template.argv, folder=folder, variables=told))
    if isinstance(mode, RpcError):
        return mode
    ready = partial(runtime.say, task, "task_bootstrap_state", status="ready", error=None)
    result = {"taskId": task.id, "state": str(task.state), "mode": mode}
    return Done(result, (ready, partial(runtime.say, task, "task_ready")))


def _template(runtime: Runtime, name: str | None) -> AgentTemplate | RpcError:
    known = runtime.templates
    if name is None and len(known) == 1:
        return next(iter(known.values()))
    if name is not None and name in known:
        return known[name]
    there = ", ".join(known) or "none; box.toml names them under [agents]"
    return rpc_error(RpcCode.INVALID_REQUEST, f"provider names an agent that can be started: {there}.")


def _switch(runtime: Runtime, task: Task, _agent: Agent, _wanted: Switch) -> Answer:
    runtime.active = task.id
    said = (partial(runtime.say, task, "task_switch_started"), partial(runtime.say, task, "task_ready"))
    return Done({"status": "switching", "taskId": task.id}, said)


def _prompt(runtime: Runtime, task: Task, agent: Agent, wanted: Prompt) -> Answer:
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


async def _stop(runtime: Runtime, wanted: OfTask) -> Answer:
    task = runtime.chosen(wanted.task_id)
    if isinstance(task, RpcError):
        return task
    await runtime.stop(task)
    result = {"taskId": task.id, "state": str(TaskState.STOPPED)}
    return Done(result, (partial(runtime.say, task, "task_stopped"),))


def _pause(runtime: Runtime, task: Task, agent: Agent, wanted: Pause) -> Answer:
    if task.paused is None:
        runtime.pause(task, agent, wanted.reason)
    return Done({"taskId": task.id, "paused": task.paused})


def _resume(runtime: Runtime, task: Task, agent: Agent, _wanted: OfTask) -> Answer:
    if task.paused is not None:
        runtime.resume(task, agent)
    return Done({"taskId": task.id, "paused": None})


def _cancel(_runtime: Runtime, task: Task, agent: Agent, _wanted: OfTask) -> Answer:
    """Of the prompt in flight. An agent that cannot be told gets what a terminal's Ctrl-C would send."""
    running = task.state is TaskState.ACTIVE
    if running and "cancel" in agent.capabilities:
        agent.tell("cancel", {"promptId": task.prompt})
    elif running:
        agent.signal(signal.SIGINT)
    return Done({"taskId": task.id, "promptId": task.prompt, "cancelled": running})


def _set_model(_runtime: Runtime, task: Task, agent: Agent, wanted: Model) -> Answer:
    agent.tell("set_model", {"model": wanted.model})
    task.model = wanted.model
    return Done({"taskId": task.id, "model": task.model})


def _pass_on(_runtime: Runtime, task: Task, agent: Agent, wanted: Anything) -> Answer:
    agent.tell("extension_ui_response", wanted.rest())
    return Done({"taskId": task.id})


async def _system_bash(_runtime: Runtime, _wanted: Anything) -> Answer:
    text = "Nobody gets a shell here. box.exec has the reads; the operator's own ops have the rest."
    return rpc_error(RpcCode.FORBIDDEN, text)


async def _models(runtime: Runtime, _wanted: Nothing) -> Answer:
    models = [
        {"provider": template.name, "model": model}
        for template in runtime.templates.values()
        for model in template.models or (None,)
    ]
    return Done({"models": models})


async def _state(runtime: Runtime, wanted: State) -> Answer:
    log = runtime.log
    state = {
        "activeTaskId": runtime.active,
        "tasks": [task.to_json() for task in runtime.tasks.values()],
        "epoch": log.epoch,
        "lastSeq": log.last,
    }
    if wanted.since is None:
        return Done(state)
    since = wanted.since if wanted.epoch in (None, log.epoch) else 0
    return Done(state | _missed(runtime, since))


def _missed(runtime: Runtime, since: int) -> dict[str, Any]:
    """The events behind `since` (J-15). `more`: ask again, from the last of them on."""
    log, events, left = runtime.log, list[dict[str, Any]](), _MOST_REPLAYED_BYTES
    for event, size_bytes in log.after(since):
        left -= size_bytes
        if left < 0 and events:
            break
        events.append(event.to_json())
    reached = events[-1]["seq"] if events else log.last
    lagged = {"from": since + 1, "to": log.first - 1} if since + 1 < log.first else None
    return {"events": events, "lagged": lagged, "more": reached < log.last}


async def _diag(runtime: Runtime, _wanted: Nothing) -> Answer:
    log = runtime.log
    recent = islice(log.after(max(0, log.last - _MOST_HISTORY)), _MOST_HISTORY)
    history = [
        {"seq": one.seq, "ts": one.ts, "event": one.event, "taskId": one.payload.get("taskId")}
        for one, _ in recent
    ]
    providers = list(runtime.templates)
    return Done(
        {
            "epoch": log.epoch,
            "lastSeq": log.last,
            "firstSeq": log.first,
            "tasks": len(runtime.tasks),
            "providers": providers,
            "history": history,
        }
    )


COMMANDS: Final[Mapping[str, Command]] = MappingProxyType(
    {
        "create_or_open_task": Command(payload=Open, run=_open),
        "switch_task": Command(payload=Switch, run=_of_running(_switch)),
        "prompt": Command(payload=Prompt, run=_of_running(_prompt)),
        "stop_task": Command(payload=OfTask, run=_stop),
        "pause": Command(payload=Pause, run=_of_running(_pause)),
        "resume": Command(payload=OfTask, run=_of_running(_resume)),
        "cancel": Command(payload=OfTask, run=_of_running(_cancel)),
        "pi_set_model": Command(payload=Model, run=_of_running(_set_model)),
        "extension_ui_response": Command(payload=Anything, run=_of_running(_pass_on)),
        "system_bash": Command(payload=Anything, run=_system_bash),
        "runtime_get_state": Command(payload=State, run=_state, writes=False),
        "runtime_diag": Command(payload=Nothing, run=_diag, writes=False),
        "pi_get_available_models": Command(payload=Nothing, run=_models, writes=False),
    }
)
