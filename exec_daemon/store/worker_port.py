"""The part of the store's port that remembers workers."""

from __future__ import annotations

from typing import Final, Protocol

from exec_daemon.store.worker_values import ALIVE, Worker, WorkerState, WorkerStep

# News of any worker.
WORKERS: Final = "workers"
# One page of a list.
WORKER_PAGE: Final = 100


class Workers(Protocol):
    """Steps are the only way to change workers; also the effect `StepWorkers` is one."""

    async def step_workers(self, step: WorkerStep) -> bool:
        """All of the step or nothing; False when a worker or a timer is no longer at the version before.

        Raises `OverBudget`, `Exists` for a worker that is there, and whatever its parts raise.
        """
        ...

    async def beat_worker(self, worker_id: str, at: str) -> None:
        """Notes that somebody has seen it alive; an unknown id is passed over."""
        ...

    async def worker(self, worker_id: str) -> Worker | None:
        """The worker, be it over or not; or None."""
        ...

    async def workers(
        self,
        *,
        owner: str | None = None,
        states: tuple[WorkerState, ...] = ALIVE,
        limit: int = WORKER_PAGE,
    ) -> list[Worker]:
        """Those of one identity or of all, the newest first."""
        ...
