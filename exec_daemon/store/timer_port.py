"""The part of the store's port that remembers timers and their runs."""

from __future__ import annotations

from typing import Final, Protocol

from exec_daemon.store.timer_values import Timer, TimerRun, TimerState, TimerStep

# News of any timer or run.
TIMERS: Final = "timers"
# States of timers that a list shows where nobody asks for others.
LISTED: Final = (TimerState.ACTIVE, TimerState.PAUSED)
# One page of a list.
TIMER_PAGE: Final = 100


class Timers(Protocol):
    """Timers and their runs. Steps are the only way to change them; also the effect `StepTimer` is one."""

    async def step_timer(self, step: TimerStep) -> bool:
        """All of the step or nothing; False when the timer is no longer at the version `step.was`.

        Raises `Exists` for a timer, a name or a run that is there, and whatever its parts raise.
        """
        ...

    async def forget_runs(self, before: str) -> int:
        """Drops runs that are over and were dealt with before this moment; how many they were.

        A timer that is completed or cancelled goes behind its last run.
        """
        ...

    async def timer(self, timer_id: str) -> Timer | None:
        """The timer, be it cancelled or not; or None."""
        ...

    async def timers(
        self,
        *,
        created_by: str | None = None,
        name: str | None = None,
        states: tuple[TimerState, ...] = LISTED,
        limit: int = TIMER_PAGE,
    ) -> list[Timer]:
        """Those of one identity or of all, the one that is due next first."""
        ...

    async def due_timers(self, now: str, limit: int) -> list[Timer]:
        """Active timers with `next_at` at or before `now`, in that order (T-68)."""
        ...

    async def waking_runs(self, now: str, limit: int) -> list[TimerRun]:
        """Runs with `wake_at` at or before `now`, in that order."""
        ...

    async def next_timer_at(self) -> str | None:
        """The earliest `next_at` of an active timer or `wake_at` of a run."""
        ...

    async def timer_runs(self, timer_id: str, limit: int = TIMER_PAGE) -> list[TimerRun]:
        """The newest first."""
        ...

    async def standing_runs(self, timer_id: str) -> list[TimerRun]:
        """The newest run and all that are under way, the newest first."""
        ...

    async def open_runs(self, thread_id: str) -> list[TimerRun]:
        """Runs that were sent into this thread and wait for a verdict, the oldest first."""
        ...

    async def run_of_job(self, job_id: str) -> TimerRun | None:
        """The run whose job this is, or None."""
        ...

    async def run_of_reply(self, reply_id: str) -> TimerRun | None:
        """The run whose verdict this reply brought, or None."""
        ...
