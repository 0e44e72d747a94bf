"""`swarm.spawn`: workers are started from a template of the operator's (O 7.2, D124, D125)."""

from __future__ import annotations

from typing import Final

from pydantic import Field

from exec_daemon.access.identity import Identity, Role
from exec_daemon.calls.op import Arguments, Ended, Op, OpContext, Success
from exec_daemon.ops.swarm_fields import text_problem
from exec_daemon.store.effects import StepWorkers
from exec_daemon.store.worker_values import WorkerStep
from exec_daemon.timers.look import moment
from exec_daemon.worker_template import WorkerTemplate
from exec_daemon.workers.spawning import Order, given, new_worker
from exec_daemon.workers.view import attach
from messaging import CallError, ErrorCode, error
from messaging.near import did_you_mean, near

_WAY_OUT: Final = 'The operator writes [workers."NAME"] into box.toml (docs/workers.md).'


class Args(Arguments):
    """Nothing of it becomes a command line: what runs stands in the template."""

    prompt: str = Field(min_length=1, description="what the worker is told; at most 16384 bytes of UTF-8")
    agent: str | None = Field(
        default=None, max_length=64, description="a template of box.toml; the only one where there is one"
    )
    name: str | None = Field(
        default=None, pattern=r"^[^\x00-\x1f\x7f]{1,64}$", description="what to call it; its id"
    )
    cwd: str | None = Field(
        default=None,
        pattern=r"^[^\x00-\x1f\x7f]{1,512}$",
        description="a folder beneath that of the template, as a relative path",
    )
    count: int = Field(default=1, ge=1, le=8, description="how many of them")
    timeout_s: int | None = Field(
        default=None, ge=1, le=604_800, description="seconds for its verdict; what the template gives"
    )


def check(args: Args) -> CallError | None:
    """What a JSON Schema cannot say. The host looks again, where links are followed."""
    parts = (args.cwd or ".").split("/")
    if args.cwd is not None and (args.cwd.startswith(("/", "~")) or ".." in parts):
        return error(
            ErrorCode.INVALID_ARGS,
            "cwd: must be a relative path beneath the template's folder, without `..`.",
        )
    return text_problem("prompt", args.prompt)


def _template(args: Args, context: OpContext) -> WorkerTemplate | CallError:
    known = context.workers.templates
    if not known:
        return error(ErrorCode.NOT_FOUND, f"This daemon has no templates of workers. {_WAY_OUT}")
    if args.agent is None:
        if len(known) == 1:
            return next(iter(known.values()))
        text = f"agent: missing. Name one of the templates {', '.join(sorted(known))}."
        return error(ErrorCode.INVALID_ARGS, text)
    found = known.get(args.agent)
    if found is None:
        close = near(args.agent, known)
        text = f"There is no template {args.agent!r}.{did_you_mean(close)} {_WAY_OUT}"
        return error(ErrorCode.NOT_FOUND, text, details={"agent": args.agent, "suggestions": close})
    return found


def _unfit(args: Args, template: WorkerTemplate) -> CallError | None:
    if args.cwd is not None and not template.in_folder:
        text = f"cwd: the template {template.name} has no folder that others could lie in. Leave cwd out."
        return error(ErrorCode.INVALID_ARGS, text)
    if args.timeout_s is not None and args.timeout_s > template.time_limit_s:
        text = f"timeout_s: workers of {template.name} have at most {template.time_limit_s} seconds."
        return error(ErrorCode.INVALID_ARGS, text)
    return None


async def _order(args: Args, template: WorkerTemplate, context: OpContext) -> Order | CallError:
    """Where the asker stands in a chain of spawns says the store, never a text (D124)."""
    me = context.identity
    above = await context.store.worker(me.name) if me.role is Role.WORKER else None
    depth = 1 if above is None else above.depth + 1
    most = context.workers.most_depth
    if depth > most:
        text = f"{me} was spawned itself, and chains of spawns have at most {most} links here."
        return error(ErrorCode.FORBIDDEN, text, details={"rule": "depth", "depth": depth, "most": most})
    home = await context.store.agent(me.name) if me.role in (Role.AGENT, Role.WORKER) else None
    return Order(
        template=template,
        prompt=args.prompt,
        owner=str(me),
        root=str(me) if above is None else above.root,
        depth=depth,
        timeout_s=args.timeout_s or template.time_limit_s,
        name=args.name,
        cwd=args.cwd,
        told=context.thread or (home.thread if home else None),
    )


async def run(args: Args, context: OpContext) -> Ended:
    """Has them started by an effect: what is wanted is there exactly when the job has succeeded."""
    template = _template(args, context)
    if isinstance(template, CallError):
        return template
    if (unfit := _unfit(args, template)) is not None:
        return unfit
    order = await _order(args, template, context)
    if isinstance(order, CallError):
        return order
    now, new_id = moment(context.clock()), context.new_id
    workers = tuple(new_worker(order, number + 1, args.count, now, new_id) for number in range(args.count))
    steps = tuple(
        given(order, one, context.ops_for(Identity(Role.WORKER, one.id)), now, new_id) for one in workers
    )
    step = WorkerStep(added=workers, budget=context.workers.budget(template, now), steps=steps)
    shown = [
        {"id": one.id, "name": one.name, "thread": one.thread, "job": one.job, "attach": attach(one)}
        for one in workers
    ]
    return Success({"agent": template.name, "workers": shown}, (StepWorkers(step),))


OP = Op(
    name="swarm.spawn",
    summary="Start workers: agents of a template that do one thing and report.",
    side_effecting=True,
    arguments=Args,
    example={"prompt": "Find out why the build is red.", "agent": "coder"},
    run=run,
    check=check,
)
