"""What a person or an agent does to a timer: pause, resume, cancel, change; pure."""

from __future__ import annotations

from dataclasses import replace

from exec_daemon.store.timer_values import RunState, TimerState, TimerStep
from exec_daemon.timers.look import Look
from exec_daemon.timers.plan import Plan
from exec_daemon.timers.rules import upcoming
from exec_daemon.timers.turns import without_runs


def pause(look: Look, why: str | None) -> TimerStep:
    """Nothing is sent any more; what was sent may still end, what is queued is dropped."""
    rests = look.touched(state=TimerState.PAUSED, reason=why, next_due=None, next_at=None)
    queued = [run for run in look.runs if run.state is RunState.QUEUED]
    step = TimerStep(timer=rests, was=look.timer.version)
    return without_runs(step, queued, "the timer was paused", look.now)


def resume(look: Look) -> TimerStep:
    """The next time is one that is still to come (T-65), and failures are counted anew."""
    active = look.touched(state=TimerState.ACTIVE, reason=None, failures=0)
    timer = upcoming(active, Plan.from_json(active.plan), look.now)
    return TimerStep(timer=timer, was=look.timer.version)


def cancel(look: Look, why: str | None) -> TimerStep:
    """The timer is off the list, and its runs end (T-65); its history stays."""
    over = look.touched(state=TimerState.CANCELLED, reason=why, next_due=None, next_at=None)
    return without_runs(TimerStep(timer=over, was=look.timer.version), look.runs, why, look.now)


def change(look: Look, plan: Plan, *, name: str, agent: str, rescheduled: bool) -> TimerStep:
    """Another plan; the next time is computed anew where the schedule is another (T-64)."""
    changed = look.touched(name=name, agent=agent, plan=plan.to_json())
    if changed.state is TimerState.COMPLETED and rescheduled:
        changed = replace(changed, state=TimerState.ACTIVE)
    if changed.state is TimerState.ACTIVE:
        changed = upcoming(changed, plan, look.now)
    return TimerStep(timer=changed, was=look.timer.version)
