"""`cron.cancel`: it is taken off the list, its open runs end, its history stays (T-65)."""

from __future__ import annotations

from exec_daemon.calls.op import Ended, Op, OpContext, Success
from exec_daemon.ops.cron_fields import Reasoned, find
from exec_daemon.store.effects import StepTimer
from exec_daemon.store.timer_values import TimerState
from exec_daemon.timers.changes import cancel
from exec_daemon.timers.view import shown_timer
from messaging import CallError


class Args(Reasoned):
    """`reason` is shown in its history."""


async def run(args: Args, context: OpContext) -> Ended:
    """Changes the timer by an effect."""
    look = await find(args.id, context)
    if isinstance(look, CallError):
        return look
    if look.timer.state is TimerState.CANCELLED:
        return Success(shown_timer(look.timer, ()))
    step = cancel(look, args.reason)
    return Success(shown_timer(step.timer, ()), (StepTimer(step),))


OP = Op(
    name="cron.cancel",
    summary="Cancel a timer for good.",
    side_effecting=True,
    arguments=Args,
    example={"id": "nightly-disk"},
    run=run,
)
