"""How a task is opened: which agent, where, and told what."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from exec_daemon.agent_template import AgentTemplate
from exec_daemon.rpc.command import Answer, Done
from exec_daemon.rpc.payloads import Open
from exec_daemon.rpc.port import Opening
from exec_daemon.rpc.runtime import Runtime
from exec_daemon.rpc.task import Task
from messaging.rpc import RpcCode, RpcError, rpc_error


async def open_task(runtime: Runtime, wanted: Open) -> Answer:
    """Starts the agent, unless something stands against it."""
    known = runtime.tasks.get(wanted.task_id)
    template = _template(runtime, wanted.provider or (known.provider if known else None))
    if isinstance(template, RpcError):
        return template
    written = wanted.working_folder or (known.folder if known else None)
    folder = _folder_within(template, written)
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


def _folder_within(template: AgentTemplate, wanted: str | None) -> Path | RpcError | None:
    """Where the agent works: `wanted` if it lies in the template's folder, links followed."""
    if wanted is None:
        return template.folder
    root = template.folder.resolve() if template.folder else None
    folder = ((root or Path("/")) / wanted).resolve()
    if root is None or not folder.is_relative_to(root) or not folder.is_dir():
        text = f"{template.name} may not work there; a folder within its own, as box.toml has it, will do."
        return rpc_error(RpcCode.WORKSPACE_POLICY_VIOLATION, text)
    return folder
