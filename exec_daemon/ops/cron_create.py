"""`cron.create`: an agent is woken by a message, once or again and again (O 7.7, T-61)."""

from __future__ import annotations

from pydantic import Field

from exec_daemon.access.identity import Role
from exec_daemon.calls.op import Arguments, Ended, Op, OpContext, Success
from exec_daemon.ops.cron_fields import (
    Policies,
    Written,
    bounded,
    check,
    gate,
    place,
    planned,
    recipient,
)
from exec_daemon.store.effects import StepTimer
from exec_daemon.store.timer_port import LISTED
from exec_daemon.store.timer_values import Timer, TimerState, TimerStep
from exec_daemon.timers.look import moment
from exec_daemon.timers.plan import Misfire, Plan
from exec_daemon.timers.reading import Kind
from exec_daemon.timers.rules import upcoming
from exec_daemon.timers.view import shown_timer
from exec_daemon.timers.zones import host_zone
from messaging import CallError, ErrorCode, error

# An agent that makes a timer in each of its runs is stopped here and not by a full store.
MOST_TIMERS = 200


class Asked(Arguments):
    """What a timer cannot do without. `schedule` is a cron line, an interval such as `5m`, or a time."""

    schedule: Written = Field(description="`30 7 * * 1-5`, `@daily`, `5m`, milliseconds, or 2026-12-01T09:00")
    prompt: str = Field(min_length=1, description="what the agent is told; at most 16384 bytes of UTF-8")


class Args(Policies, Asked):
    """The last base comes first in the schema."""


async def _too_many(context: OpContext) -> CallError | None:
    if context.identity.role is Role.OPERATOR:
        return None
    mine = await context.store.timers(created_by=str(context.identity), states=LISTED, limit=MOST_TIMERS)
    if len(mine) < MOST_TIMERS:
        return None
    return error(ErrorCode.FORBIDDEN, f"You have {MOST_TIMERS} timers. Cancel one first.")


async def run(args: Args, context: OpContext) -> Ended:
    """Makes the timer by an effect: it is there exactly when the job has succeeded."""
    if (refused := bounded(args, context.identity) or await _too_many(context)) is not None:
        return refused
    agent = await recipient(args, context)
    if isinstance(agent, CallError):
        return agent
    thread = await place(args.thread, agent, context)
    if isinstance(thread, CallError):
        return thread
    script = gate(args, context)
    if isinstance(script, CallError):
        return script
    now = context.clock()
    fields = args.model_dump(exclude={"name", "target", "tz", "script", "thread"})
    wanted = planned(fields | {"thread": thread, "script": script}, tz=args.tz or host_zone(), now=now)
    if isinstance(wanted, CallError):
        return wanted
    late = Misfire.RUN_ONCE if wanted["schedule_type"] is Kind.ONCE else Misfire.SKIP
    plan = Plan(**{"misfire": late} | wanted)
    timer_id = context.new_id("tmr")
    new = Timer(
        id=timer_id,
        name=args.name or timer_id,
        created_by=str(context.identity),
        agent=agent,
        plan=plan.to_json(),
        state=TimerState.ACTIVE,
        created_at=now,
        updated_at=now,
    )
    timer = upcoming(new, plan, moment(now))
    return Success(shown_timer(timer, ()), (StepTimer(TimerStep(timer=timer, was=None)),))


OP = Op(
    name="cron.create",
    summary="Make a timer that wakes an agent with a message.",
    side_effecting=True,
    arguments=Args,
    example={"schedule": "30 7 * * 1-5", "prompt": "Check the disks.", "tz": "Europe/Berlin"},
    run=run,
    check=check,
)
