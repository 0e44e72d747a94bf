"""A work order: a person has an agent do one thing now, in a run like those of timers, of no schedule (O-83).

Title, assignee and deadline stand in its job, and the verdict ends it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from exec_daemon.store.sources import NewId
from exec_daemon.store.timer_values import Timer, TimerState, TimerStep
from exec_daemon.timers.look import Address, Due
from exec_daemon.timers.plan import Misfire, Plan
from exec_daemon.timers.reading import Kind
from exec_daemon.timers.rules import send
from exec_daemon.timers.zones import UTC_NAME
from messaging.moment import iso


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What is ordered. `thread` None is the agent's home; durations are those of a plan."""

    title: str
    text: str
    agent: str
    created_by: str
    thread: str | None
    nudge_s: int
    deadline_s: int


def give(order: Order, address: Address, now: datetime, new_id: NewId) -> TimerStep:
    """The step that sends the order."""
    plan = _plan(order, iso(now))
    timer = Timer(
        id=new_id("tmr"),
        name=order.title,
        created_by=order.created_by,
        agent=order.agent,
        plan=plan.to_json(),
        state=TimerState.COMPLETED,
        created_at=iso(now),
        updated_at=iso(now),
        last_due=iso(now),
    )
    due = Due(timer=timer, runs=(), now=now, new_id=new_id, address=address)
    step = send(due, plan, timer, now)
    return TimerStep(timer=step.timer, was=None, added=step.added, starts=step.starts, posts=step.posts)


def _plan(order: Order, now: str) -> Plan:
    return Plan(
        schedule=now,
        schedule_type=Kind.ONCE,
        tz=UTC_NAME,
        prompt=order.text,
        start=now,
        thread=order.thread,
        misfire=Misfire.RUN_ONCE,
        pause_after=0,
        nudge_s=order.nudge_s,
        deadline_s=order.deadline_s,
        order=True,
    )
