"""The `Workers` part of the port: what goes to the writer, what to the readers."""

from __future__ import annotations

from exec_daemon.store.sqlite import workers
from exec_daemon.store.sqlite.part import SqlitePart
from exec_daemon.store.worker_port import WORKER_PAGE
from exec_daemon.store.worker_values import ALIVE, Worker, WorkerState, WorkerStep


class SqliteWorkers(SqlitePart):
    """See `exec_daemon/store/worker_port.py`."""

    async def step_workers(self, step: WorkerStep) -> bool:
        return await self._write(workers.step, step, self._clock())

    async def beat_worker(self, worker_id: str, at: str) -> None:
        await self._write(workers.beat, worker_id, at)

    async def worker(self, worker_id: str) -> Worker | None:
        return await self._read(workers.worker, worker_id)

    async def workers(
        self,
        *,
        owner: str | None = None,
        states: tuple[WorkerState, ...] = ALIVE,
        limit: int = WORKER_PAGE,
    ) -> list[Worker]:
        return await self._read(workers.workers, owner, states, limit)
