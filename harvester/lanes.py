"""Work in parallel between lanes, in order within one: each thread of messages is a lane."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Lock
from types import TracebackType
from typing import Self

Task = Callable[[], None]


class Lanes:
    """Runs tasks on a few threads. A task must not raise. Leaving the context waits for what runs.

    A task that has not begun when the context is left is dropped.
    """

    def __init__(self, workers: int) -> None:
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="harvest")
        self._waiting: dict[str, deque[Task]] = {}
        self._lock = Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown(wait=True, cancel_futures=True)

    def put(self, lane: str, task: Task) -> None:
        """Run `task` after all tasks that were put into this lane before."""
        with self._lock:
            idle = lane not in self._waiting
            self._waiting.setdefault(lane, deque()).append(task)
        if idle:
            self._pool.submit(self._next, lane)

    def _next(self, lane: str) -> None:
        """One task, then back to the end of the line: a busy lane does not hold up the others."""
        with self._lock:
            task = self._waiting[lane][0]
        task()
        with self._lock:
            waiting = self._waiting[lane]
            waiting.popleft()
            if not waiting:
                del self._waiting[lane]
                return
        with suppress(RuntimeError):  # the pool is closing: what has not begun is dropped
            self._pool.submit(self._next, lane)
