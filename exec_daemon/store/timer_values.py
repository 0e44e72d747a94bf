"""Timers, their runs, and the one way in which both change: a step (T-60 to T-71, O 7.7).

A store keeps what it is given and knows nothing of schedules. Times are UTC, ISO 8601 with milliseconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from exec_daemon.store.values import NewJob, NewThread, Outcome
from messaging import NewMessage


class TimerState(StrEnum):
    """Where a timer stands (T-71). One that was cancelled is kept for its history only."""

    ACTIVE = "active"
    PAUSED = "paused"
    COMPLETED = "completed"
    CANCELLED = "cancelled"


class RunState(StrEnum):
    """Where a run stands. `blocked`: the agent waits for a person; only a verdict or a cancel ends it."""

    QUEUED = "queued"
    OPEN = "open"
    BLOCKED = "blocked"
    ENDED = "ended"
    SKIPPED = "skipped"


# Runs that keep their timer from the next one.
UNDER_WAY = frozenset({RunState.QUEUED, RunState.OPEN, RunState.BLOCKED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Timer:
    """A timer. `created_by` is an identity, `agent` the name of the one that is woken.

    `plan` is JSON. `next_due` is the next time of the schedule, `next_at` that with jitter, `last_due` the
    latest one that has a run. `sent` counts runs that reached the agent, `failures` those in a row that did
    not go well. `version` grows with each change.
    """

    id: str
    name: str
    created_by: str
    agent: str
    plan: Mapping[str, Any]
    state: TimerState
    created_at: str
    updated_at: str
    reason: str | None = None
    next_due: str | None = None
    next_at: str | None = None
    last_due: str | None = None
    sent: int = 0
    failures: int = 0
    version: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class TimerRun:
    """One time at which a timer was due; there is one row for (`timer`, `due`) at most (T-69).

    `at` is when it was dealt with. `outcome` is the word of a verdict, MISSING, CANCELLED, or for a skipped
    run why. A skipped run may stand for `slots` times, the last of them `upto`. `reply` is the message that
    brought the verdict. `wake_at` is when something is to be done about it.
    """

    timer: str
    due: str
    at: str
    state: RunState
    outcome: str | None = None
    summary: str | None = None
    slots: int = 1
    upto: str | None = None
    job: str | None = None
    thread: str | None = None
    message: str | None = None
    reply: str | None = None
    nudged: bool = False
    deadline: str | None = None
    wake_at: str | None = None
    ended_at: str | None = None


@dataclass(frozen=True, slots=True)
class Start:
    """A job that begins with a step. Its id is known beforehand, so that the message can name it."""

    id: str
    job: NewJob


@dataclass(frozen=True, slots=True)
class Post:
    """A message that is appended with a step, under this id."""

    id: str
    message: NewMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class TimerStep:
    """A change of one timer and all that goes with it, committed together or not at all.

    `was` is the version that it follows from; None makes the timer. `added` are runs that must not be there
    yet, `changed` runs that are. `threads` are made before the messages are appended. `warns` are events of
    jobs that go on, `ends` are ends of jobs.
    """

    timer: Timer
    was: int | None
    added: tuple[TimerRun, ...] = ()
    changed: tuple[TimerRun, ...] = ()
    threads: tuple[NewThread, ...] = ()
    starts: tuple[Start, ...] = ()
    posts: tuple[Post, ...] = ()
    warns: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    ends: tuple[tuple[str, Outcome], ...] = ()
