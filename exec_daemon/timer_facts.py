"""Timers as the reads of the box see them (O 7.1, rows 14 and 24)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from exec_daemon.box.ports import Scope, TimerFacts, TimerRun
from exec_daemon.store.timer_values import Timer, TimerState
from exec_daemon.store.timer_values import TimerRun as Run
from exec_daemon.timers.rules import GRACE
from messaging.moment import iso

# O 7.1, row 24.
RUNS_SHOWN: Final = 20


def timer_facts(timer: Timer, runs: Sequence[Run]) -> TimerFacts:
    """`runs` are the newest, newest first; those that were sent are shown, and when they were due."""
    sent = [run for run in runs if run.job is not None]
    return TimerFacts(
        id=timer.id,
        name=timer.name,
        schedule=str(timer.plan["schedule"]),
        tz=str(timer.plan["tz"]),
        enabled=timer.state is TimerState.ACTIVE,
        next_run=timer.next_at,
        last_run=sent[0].due if sent else None,
        last_verdict=(sent[0].outcome or str(sent[0].state)) if sent else None,
        stale=_stale(timer),
        definition={"agent": timer.agent, "created_by": timer.created_by, **timer.plan},
        runs=tuple(TimerRun(at=run.due, verdict=run.outcome or str(run.state), job=run.job) for run in runs),
    )


def _stale(timer: Timer) -> bool:
    """Was it due so long ago that no scheduler can be at work?"""
    late = datetime.now(UTC) - GRACE - timedelta(seconds=1)
    return timer.state is TimerState.ACTIVE and timer.next_at is not None and timer.next_at < iso(late)


def visible(timer: Timer | None, scope: Scope) -> bool:
    """Timers are seen by who made them (O-46)."""
    return timer is not None and scope.identity in (None, timer.created_by)
