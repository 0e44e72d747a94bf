"""What a timer does when it is due: pure, from what the store has and a moment to the next step (T-68, T-69).

The step holds all that follows: the run, its job, the message, the next time. The store takes it whole or not
at all, so that a run that is recorded was sent, and one that was sent is recorded.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from exec_daemon.store.timer_values import UNDER_WAY, RunState, Timer, TimerRun, TimerState, TimerStep
from exec_daemon.timers.dispatch import dispatch
from exec_daemon.timers.look import Due, moment
from exec_daemon.timers.plan import Misfire, Overlap, Plan
from exec_daemon.timers.schedule import Every, Schedule
from messaging.moment import iso

# A daemon that is restarted or busy at the time comes a little late; what is later than this was missed.
GRACE: Final = timedelta(seconds=60)
# Missed times are counted one by one as far as this: a year of minutes is not worth the seconds it takes.
_MOST_COUNTED: Final = 1000

MISSED, OVERLAP = "missed", "overlap"


def jitter(timer_id: str, due: datetime, most_s: int) -> timedelta:
    """How much later than `due` it fires: the same whenever it is asked, and spread over 0 to `most_s`."""
    if not most_s:
        return timedelta()
    drawn = int.from_bytes(hashlib.sha256(f"{timer_id} {iso(due)}".encode()).digest()[:8])
    return timedelta(milliseconds=drawn % (most_s * 1000 + 1))


def upcoming(timer: Timer, plan: Plan, after: datetime) -> Timer:
    """The timer with its next time later than `after`; completed where there is none (T-71).

    Never one that has had its turn: a clock that is set back repeats nothing.
    """
    if timer.last_due is not None:
        after = max(after, moment(timer.last_due))
    due = plan.timing().after(after)
    over = plan.max_runs is not None and timer.sent >= plan.max_runs
    if due is None or over or (plan.until is not None and due > moment(plan.until)):
        return replace(timer, state=TimerState.COMPLETED, next_due=None, next_at=None)
    at = due + jitter(timer.id, due, plan.jitter_s)
    return replace(timer, next_due=iso(due), next_at=iso(at))


def passed(schedule: Schedule, due: datetime, now: datetime) -> tuple[int, datetime, datetime | None]:
    """How many times from `due` to `now` there are, at least one; the last of them, and the one before it."""
    if isinstance(schedule, Every):
        more = max(0, (now - due) // schedule.every)
        last = due + schedule.every * more
        return more + 1, last, last - schedule.every if more else None
    count, before, last = 1, None, due
    window = now - timedelta(hours=1)
    while (following := schedule.after(last)) is not None and following <= now:
        if count == _MOST_COUNTED and following < window:
            following = _within(schedule, last, now)
        count, before, last = min(count + 1, _MOST_COUNTED), last, following
    return count, last, before


def _within(schedule: Schedule, last: datetime, now: datetime) -> datetime:
    """A late one of the times from `last` to `now`, found without going through all of them."""
    back = timedelta(hours=1)
    while now - back > last:
        found = schedule.after(now - back)
        if found is not None and found <= now:
            return found
        back *= 2
    return schedule.after(last) or last


def fire(due: Due) -> TimerStep:
    """The step of a timer that is due."""
    timer, plan = due.timer, Plan.from_json(due.timer.plan)
    first = moment(timer.next_due or "")
    # Later times count once their own delay could be over, too.
    until = max(first, due.now - jitter(timer.id, first, plan.jitter_s))
    count, last, before = passed(plan.timing(), first, until)
    late = until - last > GRACE and plan.misfire is Misfire.SKIP
    missed = _missed(due, first, last if late else before, count if late else count - 1)
    changed = due.touched(last_due=iso(last))
    if late:
        return TimerStep(timer=upcoming(changed, plan, last), was=timer.version, added=missed)
    return _turn(due, plan, changed, last, missed)


def _missed(due: Due, first: datetime, last: datetime | None, slots: int) -> tuple[TimerRun, ...]:
    if last is None or slots < 1:
        return ()
    return (replace(_skipped(due, first, MISSED), slots=slots, upto=iso(last)),)


def _skipped(due: Due, at: datetime, why: str) -> TimerRun:
    return TimerRun(
        timer=due.timer.id, due=iso(at), at=iso(due.now), state=RunState.SKIPPED, outcome=why, upto=iso(at)
    )


def _turn(due: Due, plan: Plan, timer: Timer, at: datetime, missed: tuple[TimerRun, ...]) -> TimerStep:
    """The step for a time that has its turn: sent, queued, or skipped since another run is under way."""
    under_way = [run for run in due.runs if run.state in UNDER_WAY]
    if not under_way:
        return (hold if plan.script else send)(due, plan, timer, at, missed)
    queued = any(run.state is RunState.QUEUED for run in under_way)
    step = TimerStep(timer=upcoming(timer, plan, at), was=due.timer.version, added=missed)
    if plan.overlap is Overlap.QUEUE and not queued:
        waiting = TimerRun(timer=timer.id, due=iso(at), at=iso(due.now), state=RunState.QUEUED)
        return replace(step, added=(*missed, waiting))
    newest = due.runs[0]
    if not missed and newest.outcome == OVERLAP:  # one row says it for all times of one long run
        longer = replace(newest, slots=newest.slots + 1, upto=iso(at))
        return replace(step, changed=(longer,))
    return replace(step, added=(*missed, _skipped(due, at, OVERLAP)))


def send(due: Due, plan: Plan, timer: Timer, at: datetime, missed: tuple[TimerRun, ...] = ()) -> TimerStep:
    """The step that wakes the agent for the time `at`; `timer` is its next version."""
    sent = dispatch(due, timer, plan, at)
    counted = replace(timer, sent=timer.sent + 1)
    return TimerStep(
        timer=upcoming(counted, plan, at) if timer.state is TimerState.ACTIVE else counted,
        was=due.timer.version,
        added=(*missed, sent.run),
        threads=sent.threads,
        starts=(sent.start,),
        posts=(sent.post,),
    )


def hold(due: Due, plan: Plan, timer: Timer, at: datetime, missed: tuple[TimerRun, ...] = ()) -> TimerStep:
    """The step for a time whose gate is to be asked first: it is queued, and looked at at once (T-78)."""
    now = iso(due.now)
    waiting = TimerRun(timer=timer.id, due=iso(at), at=now, state=RunState.QUEUED, wake_at=now)
    following = upcoming(timer, plan, at) if timer.state is TimerState.ACTIVE else timer
    return TimerStep(timer=following, was=due.timer.version, added=(*missed, waiting))


def send_queued(due: Due, run: TimerRun, prompt: str | None = None) -> TimerStep:
    """The step that sends a run which has waited for the one before it, or for its gate.

    `prompt` is what the agent is told in place of the plan's.
    """
    plan = Plan.from_json(due.timer.plan)
    timer = due.touched()
    step = send(due, replace(plan, prompt=prompt or plan.prompt), timer, moment(run.due))
    over = plan.max_runs is not None and step.timer.sent >= plan.max_runs
    kept = step.timer if over else replace(timer, sent=step.timer.sent)
    return replace(step, timer=kept, added=(), changed=step.added)


def run_now(due: Due) -> TimerStep:
    """The step of a run that somebody asks for: one more, beside the schedule."""
    timer, plan = due.touched(), Plan.from_json(due.timer.plan)
    step = (hold if plan.script else send)(due, plan, replace(timer, state=TimerState.PAUSED), due.now)
    return replace(step, timer=replace(timer, sent=step.timer.sent))
