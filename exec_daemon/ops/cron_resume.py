"""`cron.resume`: it goes on with a time that is still to come (T-65)."""

from __future__ import annotations

from exec_daemon.calls.op import Ended, Op, OpContext, Success
from exec_daemon.ops.cron_fields import Reasoned, find
from exec_daemon.store.effects import StepTimer
from exec_daemon.store.timer_values import TimerState
from exec_daemon.timers.changes import resume
from exec_daemon.timers.view import shown_timer
from messaging import CallError, ErrorCode, error


class Args(Reasoned):
    """`reason` is kept with the job."""


async def run(args: Args, context: OpContext) -> Ended:
    """Changes the timer by an effect."""
    look = await find(args.id, context)
    if isinstance(look, CallError):
        return look
    if look.timer.state is TimerState.CANCELLED:
        return error(ErrorCode.NOT_FOUND, f"The timer {look.timer.name} was cancelled; make a new one.")
    if look.timer.state is TimerState.ACTIVE:
        return Success(shown_timer(look.timer, ()))
    step = resume(look)
    return Success(shown_timer(step.timer, ()), (StepTimer(step),))


OP = Op(
    name="cron.resume",
    summary="Let a paused timer go on.",
    side_effecting=True,
    arguments=Args,
    example={"id": "nightly-disk"},
    run=run,
)
