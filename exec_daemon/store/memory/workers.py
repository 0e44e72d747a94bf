"""Workers in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from exec_daemon.store.effects import Effect, StepWorkers
from exec_daemon.store.errors import Exists, Outdated
from exec_daemon.store.memory.timers import MemoryTimers
from exec_daemon.store.timer_port import TIMERS
from exec_daemon.store.worker_budget import check_budget
from exec_daemon.store.worker_port import WORKER_PAGE, WORKERS
from exec_daemon.store.worker_values import ALIVE, OVER, Budget, Worker, WorkerState, WorkerStep
from messaging import Job


class MemoryWorkers(MemoryTimers):
    """The `Workers` part of the port; steps go through those of timers."""

    async def step_workers(self, step: WorkerStep) -> bool:
        try:
            with self._all_or_nothing():
                self._step_workers(step, self._clock())
        except Outdated:
            return False
        self._feed.publish((WORKERS, TIMERS))
        return True

    def _step_workers(self, step: WorkerStep, at: str) -> None:
        """Raises `Outdated` for what has changed meanwhile."""
        if step.added and step.budget is not None:
            self._check_budget(step.added, step.budget)
        for one in step.steps:
            if not self._step(one, at):
                raise Outdated(f"the timer {one.timer.name!r} changed meanwhile", one.timer.name)
        for worker in (*step.added, *step.changed):
            self._put_worker(worker)
        for post in step.posts:
            self._append(post.message, post.id, at)

    def _put_worker(self, worker: Worker) -> None:
        present = self._tables.workers.get(worker.id)
        if worker.version == 1 and present is not None:
            raise Exists(f"there is a worker {worker.id!r} already", worker.id)
        if worker.version > 1 and (present is None or present.version != worker.version - 1):
            raise Outdated(f"the worker {worker.id!r} changed meanwhile", worker.id)
        self._tables.workers[worker.id] = worker

    def _check_budget(self, added: Sequence[Worker], budget: Budget) -> None:
        every, first = self._tables.workers.values(), added[0]
        of_root = [one for one in every if one.root == first.root]
        check_budget(
            budget,
            first,
            len(added),
            alive=sum(one.state not in OVER for one in of_root),
            started=sum(one.created_at >= budget.since for one in of_root),
            of_template=sum(one.template == first.template and one.state not in OVER for one in every),
        )

    def _take_effect(self, effect: Effect, job: Job, at: str) -> None:
        if not isinstance(effect, StepWorkers):
            super()._take_effect(effect, job, at)
            return
        self._step_workers(effect.step, at)
        self._feed.publish((WORKERS, TIMERS))

    async def beat_worker(self, worker_id: str, at: str) -> None:
        present = self._tables.workers.get(worker_id)
        if present is not None:
            self._tables.workers[worker_id] = replace(present, heartbeat_at=at)

    async def worker(self, worker_id: str) -> Worker | None:
        return self._tables.workers.get(worker_id)

    async def workers(
        self,
        *,
        owner: str | None = None,
        states: tuple[WorkerState, ...] = ALIVE,
        limit: int = WORKER_PAGE,
    ) -> list[Worker]:
        newest_first = reversed(self._tables.workers.values())
        found = (one for one in newest_first if owner in (None, one.owner) and one.state in states)
        return list(found)[:limit]
