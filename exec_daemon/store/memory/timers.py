"""Timers and their runs in memory."""

from __future__ import annotations

from dataclasses import replace

from exec_daemon.store.effects import Effect, StepTimer
from exec_daemon.store.errors import Exists, Outdated
from exec_daemon.store.json_text import kept
from exec_daemon.store.memory.journal import MemoryJournal
from exec_daemon.store.timer_port import LISTED, TIMER_PAGE, TIMERS
from exec_daemon.store.timer_values import UNDER_WAY, RunState, Timer, TimerRun, TimerState, TimerStep
from messaging import EventType, Job

_OPEN = (RunState.OPEN, RunState.BLOCKED)


def _soonest(timer: Timer) -> tuple[bool, str]:
    return timer.next_at is None, timer.next_at or ""


class MemoryTimers(MemoryJournal):
    """The `Timers` part of the port; steps begin jobs and append messages."""

    async def step_timer(self, step: TimerStep) -> bool:
        with self._all_or_nothing():
            done = self._step(step, self._clock())
        if done:
            self._feed.publish((TIMERS,))
        return done

    def _step(self, step: TimerStep, at: str) -> bool:
        if not self._put_timer(step.timer, step.was):
            return False
        self._put_runs(step)
        for thread in step.threads:
            self._make_thread(thread, at)
        for start in step.starts:
            self._begin(start.job, start.id, at)
        for post in step.posts:
            self._append(post.message, post.id, at)
        for job_id, payload in step.warns:
            self._add_event(job_id, EventType.WARNING, payload, at)
        for job_id, outcome in step.ends:
            self._finish(job_id, outcome, (), at)
        return True

    def _put_runs(self, step: TimerStep) -> None:
        runs = self._tables.timer_runs
        for run in step.added:
            if (run.timer, run.due) in runs:
                raise Exists(f"the timer {run.timer} has a run of {run.due} already", run.timer)
            runs[run.timer, run.due] = run
        there = (run for run in step.changed if (run.timer, run.due) in runs)
        for run in there:
            runs[run.timer, run.due] = run

    def _take_effect(self, effect: Effect, job: Job, at: str) -> None:
        if not isinstance(effect, StepTimer):
            super()._take_effect(effect, job, at)
        elif self._step(effect.step, at):
            self._feed.publish((TIMERS,))
        else:
            name = effect.step.timer.name
            raise Outdated(f"the timer {name!r} changed meanwhile", name)

    def _put_timer(self, timer: Timer, was: int | None) -> bool:
        present = self._tables.timers.get(timer.id)
        if was is not None and (present is None or present.version != was):
            return False
        others = (one for one in self._tables.timers.values() if was is None or one.id != timer.id)
        if any(one.id == timer.id or self._same_name(one, timer) for one in others):
            raise Exists(f"there is a timer {timer.name!r} already", timer.name)
        self._tables.timers[timer.id] = replace(timer, plan=kept(timer.plan))
        return True

    @staticmethod
    def _same_name(one: Timer, other: Timer) -> bool:
        both = (one.created_by, one.name) == (other.created_by, other.name)
        return both and one.state in LISTED and other.state in LISTED

    async def forget_runs(self, before: str) -> int:
        runs = self._tables.timer_runs
        old = [key for key, run in runs.items() if run.state not in UNDER_WAY and run.at < before]
        for key in old:
            del runs[key]
        with_runs = {run.timer for run in runs.values()}
        timers = self._tables.timers
        for one in [*timers.values()]:
            if one.state not in LISTED and one.updated_at < before and one.id not in with_runs:
                del timers[one.id]
        return len(old)

    async def timer(self, timer_id: str) -> Timer | None:
        return self._tables.timers.get(timer_id)

    async def timers(
        self,
        *,
        created_by: str | None = None,
        name: str | None = None,
        states: tuple[TimerState, ...] = LISTED,
        limit: int = TIMER_PAGE,
    ) -> list[Timer]:
        every = (one for one in self._tables.timers.values() if one.state in states)
        found = [one for one in every if created_by in (None, one.created_by) and name in (None, one.name)]
        return sorted(found, key=_soonest)[:limit]

    async def due_timers(self, now: str, limit: int) -> list[Timer]:
        active = await self.timers(states=(TimerState.ACTIVE,), limit=len(self._tables.timers))
        return [one for one in active if one.next_at is not None and one.next_at <= now][:limit]

    async def waking_runs(self, now: str, limit: int) -> list[TimerRun]:
        due = [run for run in self._tables.timer_runs.values() if run.wake_at and run.wake_at <= now]
        return sorted(due, key=lambda run: (run.wake_at or "", run.timer, run.due))[:limit]

    async def next_timer_at(self) -> str | None:
        timers = (one.next_at for one in self._tables.timers.values() if one.state is TimerState.ACTIVE)
        runs = (run.wake_at for run in self._tables.timer_runs.values())
        return min((at for at in (*timers, *runs) if at is not None), default=None)

    async def timer_runs(self, timer_id: str, limit: int = TIMER_PAGE) -> list[TimerRun]:
        mine = [run for run in self._tables.timer_runs.values() if run.timer == timer_id]
        return sorted(mine, key=lambda run: run.due, reverse=True)[:limit]

    async def standing_runs(self, timer_id: str) -> list[TimerRun]:
        mine = await self.timer_runs(timer_id, len(self._tables.timer_runs))
        return [run for number, run in enumerate(mine) if number == 0 or run.state in UNDER_WAY]

    async def open_runs(self, thread_id: str) -> list[TimerRun]:
        runs = self._tables.timer_runs.values()
        found = [run for run in runs if run.thread == thread_id and run.state in _OPEN]
        return sorted(found, key=lambda run: (run.at, run.timer, run.due))

    async def run_of_job(self, job_id: str) -> TimerRun | None:
        return next((run for run in self._tables.timer_runs.values() if run.job == job_id), None)

    async def run_of_reply(self, reply_id: str) -> TimerRun | None:
        return next((run for run in self._tables.timer_runs.values() if run.reply == reply_id), None)
