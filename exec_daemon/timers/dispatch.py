"""The message of a run: its envelope, its job, and the thread that it goes into (O-60, O-63)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from exec_daemon.store.timer_values import Post, RunState, Start, Timer, TimerRun
from exec_daemon.store.values import NewJob, NewThread
from exec_daemon.timers.look import Due
from exec_daemon.timers.plan import ContextMode, Plan
from exec_daemon.timers.zones import zone
from messaging import TIMER_AUTHOR, AuthorKind, MessageKind, NewMessage, digest
from messaging.moment import iso
from prompt_envelope import EnvelopeContext, wrap

# The `op` of a run's job: no call of anybody's made it (`store/once.py` knows it too).
TIMER_JOB: Final = "timer"


@dataclass(frozen=True, slots=True)
class Dispatched:
    """What is sent."""

    run: TimerRun
    start: Start
    post: Post
    threads: tuple[NewThread, ...] = ()


def dispatch(due: Due, timer: Timer, plan: Plan, at: datetime) -> Dispatched:
    """The run of `timer`, the next version of the one that is due, for the time `at`."""
    job_id, message_id, now = due.new_id("job"), due.new_id("msg"), due.now
    isolated = plan.context_mode is ContextMode.ISOLATED
    thread = due.new_id("thr") if isolated else plan.thread or due.address.home
    deadline = now + timedelta(seconds=plan.deadline_s)
    run = TimerRun(
        timer=timer.id,
        due=iso(at),
        at=iso(now),
        state=RunState.OPEN,
        job=job_id,
        thread=thread,
        message=message_id,
        deadline=iso(deadline),
        wake_at=iso(min(deadline, now + timedelta(seconds=plan.nudge_s))),
    )
    made = (NewThread(id=thread, title=f"{timer.name} {run.due}", agent=timer.agent),) if isolated else ()
    body = _wrapped(due, timer, plan, run)
    return Dispatched(
        run, Start(job_id, _job(timer, plan, run)), Post(message_id, _message(plan, run, body)), made
    )


def _wrapped(due: Due, timer: Timer, plan: Plan, run: TimerRun) -> str:
    where = zone(plan.tz)
    context = EnvelopeContext(
        now=due.now.astimezone(where),
        due=datetime.fromisoformat(run.due).astimezone(where),
        deadline=datetime.fromisoformat(run.deadline or "").astimezone(where),
        job=run.job,
        timer=timer.name,
        thread=run.thread,
    )
    return wrap(plan.prompt, context, due.address.ops)


def _job(timer: Timer, plan: Plan, run: TimerRun) -> NewJob:
    """It belongs to who made the timer (O 7.7)."""
    args = {
        "timer": timer.id,
        "name": timer.name,
        "agent": timer.agent,
        "due": run.due,
        "deadline": run.deadline,
        "prompt": plan.prompt,
    }
    return NewJob(
        identity=timer.created_by,
        call_id=f"{timer.id}@{run.due}",
        digest=digest(TIMER_JOB, args),
        op=TIMER_JOB,
        args=args,
        side_effecting=True,
        effects_inside=True,
        thread=run.thread,
    )


def _message(plan: Plan, run: TimerRun, body: str) -> NewMessage:
    return NewMessage(
        thread=run.thread or "",
        author=TIMER_AUTHOR,
        author_kind=AuthorKind.SYSTEM,
        kind=MessageKind.WORK_ORDER if plan.order else MessageKind.ENVELOPE,
        body=body,
        job_id=run.job,
        key=f"{TIMER_AUTHOR} {run.timer} {run.due}",
    )
