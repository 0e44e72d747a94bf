"""`cron.list`: the asker's timers, the one that is due next first."""

from __future__ import annotations

from typing import Any, Final, Literal, TypedDict

from pydantic import Field

from exec_daemon.access.scope import sees_all
from exec_daemon.calls.op import Arguments, Ended, Op, OpContext, Success
from exec_daemon.store.timer_port import LISTED
from exec_daemon.store.timer_values import TimerState
from exec_daemon.timers.view import shown_timer

_STATES: Final = {"listed": LISTED, "all": tuple(TimerState)}


class Args(Arguments):
    """Without arguments: those that are active or paused."""

    state: Literal["listed", "all", "active", "paused", "completed", "cancelled"] = Field(
        default="listed", description="listed: active and paused ones"
    )
    limit: int = Field(default=50, ge=1, le=500, description="how many")


class Timers(TypedDict):
    """Each with its next five times and its last run."""

    timers: list[dict[str, Any]]


async def run(args: Args, context: OpContext) -> Ended:
    """Reads. Operators and viewers see all timers, others their own."""
    states = _STATES.get(args.state) or (TimerState(args.state),)
    whose = None if sees_all(context.identity) else str(context.identity)
    found = await context.store.timers(created_by=whose, states=states, limit=args.limit)
    shown = [shown_timer(timer, await context.store.timer_runs(timer.id, 1)) for timer in found]
    return Success(Timers(timers=shown))


OP = Op(
    name="cron.list",
    summary="List your timers, the one that is due next first.",
    side_effecting=False,
    arguments=Args,
    example={},
    run=run,
)
