"""A timer and its runs as JSON, the same wherever they are shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any, Final

from exec_daemon.store.timer_values import Timer, TimerRun, TimerState
from exec_daemon.timers.look import moment
from exec_daemon.timers.plan import Plan
from exec_daemon.timers.schedule import following
from exec_daemon.timers.zones import zone

# Enough to see whether a schedule is the one that was meant.
NEXT_SHOWN: Final = 5
_FIELDS: Final = (
    "id",
    "name",
    "created_by",
    "agent",
    "state",
    "reason",
    "sent",
    "failures",
    "next_due",
    "next_at",
)
_INNER: Final = ("timer", "wake_at")


def shown_run(run: TimerRun) -> dict[str, Any]:
    """A run, without what only the scheduler needs."""
    return {key: value for key, value in asdict(run).items() if key not in _INNER} | {"state": str(run.state)}


def shown_timer(timer: Timer, runs: Sequence[TimerRun]) -> dict[str, Any]:
    """A timer with its plan, its next times and the newest of its `runs`."""
    plan = Plan.from_json(timer.plan)
    facts = {key: getattr(timer, key) for key in _FIELDS} | {"state": str(timer.state)}
    hidden = ("start", "every_ms", "order")
    planned = {key: value for key, value in plan.to_json().items() if key not in hidden}
    return {
        **facts,
        **planned,
        "next": next_of(timer, plan),
        "last": shown_run(runs[0]) if runs else None,
        "created_at": timer.created_at,
        "updated_at": timer.updated_at,
    }


def next_of(timer: Timer, plan: Plan, count: int = NEXT_SHOWN) -> list[str]:
    """The next times of an active timer, by the clock of its zone."""
    if timer.state is not TimerState.ACTIVE or timer.next_due is None:
        return []
    first = moment(timer.next_due)
    left = count if plan.max_runs is None else min(count, plan.max_runs - timer.sent)
    found = [first, *following(plan.timing(), first, max(0, left - 1))]
    until = None if plan.until is None else moment(plan.until)
    return [local(one, plan.tz) for one in found[:left] if until is None or one <= until]


def local(when: datetime, tz: str) -> str:
    """`2026-12-01T07:00:00+01:00`, by the clock of the zone."""
    return when.astimezone(zone(tz)).isoformat(timespec="seconds")
