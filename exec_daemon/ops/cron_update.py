"""`cron.update`: only what is given changes; what is wrong changes nothing (T-64)."""

from __future__ import annotations

from dataclasses import replace

from pydantic import Field

from exec_daemon.calls.op import Ended, Op, OpContext, Success
from exec_daemon.ops.cron_fields import (
    Policies,
    Which,
    Written,
    bounded,
    check,
    find,
    gate,
    place,
    planned,
    recipient,
)
from exec_daemon.store.effects import StepTimer
from exec_daemon.timers.changes import change
from exec_daemon.timers.plan import Plan
from exec_daemon.timers.view import shown_timer
from messaging import CallError

# What a new plan is read from again: the schedule and all that it depends on.
_TIMING = frozenset({"schedule", "schedule_type", "tz"})
_NOT_PLANNED = {"id", "name", "target", "script", "thread", "tz"}


class Asked(Which):
    """`id`, and what is to be otherwise."""

    schedule: Written | None = Field(
        default=None, description="`30 7 * * 1-5`, `@daily`, `5m`, milliseconds, or 2026-12-01T09:00"
    )
    prompt: str | None = Field(default=None, min_length=1, description="what the agent is told")


class Args(Policies, Asked):
    """The last base comes first in the schema."""


async def run(args: Args, context: OpContext) -> Ended:
    """Changes the timer by an effect."""
    look = bounded(args, context.identity) or await find(args.id, context)
    if isinstance(look, CallError):
        return look
    agent = await recipient(args, context, look.timer.agent)
    if isinstance(agent, CallError):
        return agent
    plan = await _plan(args, agent, Plan.from_json(look.timer.plan), context)
    if isinstance(plan, CallError):
        return plan
    step = change(
        look,
        plan,
        name=args.name or look.timer.name,
        agent=agent,
        rescheduled=bool(_TIMING & args.model_fields_set),
    )
    return Success(shown_timer(step.timer, ()), (StepTimer(step),))


async def _plan(args: Args, agent: str, before: Plan, context: OpContext) -> Plan | CallError:
    thread: str | CallError | None = before.thread
    if args.thread is not None or args.target is not None:
        thread = await place(args.thread, agent, context)
    if isinstance(thread, CallError):
        return thread
    script = gate(args, context, before.script)
    if isinstance(script, CallError):
        return script
    given = args.model_dump(exclude=_NOT_PLANNED)
    if _TIMING & args.model_fields_set and given["schedule"] is None:
        given |= {"schedule": before.schedule, "schedule_type": args.schedule_type or before.schedule_type}
    wanted = planned(given, tz=args.tz or before.tz, now=context.clock())
    if isinstance(wanted, CallError):
        return wanted
    return replace(before, **wanted, thread=thread, script=script)


OP = Op(
    name="cron.update",
    summary="Change a timer; what you leave out stays.",
    side_effecting=True,
    arguments=Args,
    example={"id": "nightly-disk", "schedule": "0 6 * * *"},
    run=run,
    check=check,
)
