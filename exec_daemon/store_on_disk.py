"""The store's file as a program beside the daemon reads it: nothing is written, not even a lock or a log.

The daemon may run or not. While it does, SQLite's shared memory is there and readers join it; when it has
ended cleanly there is none, and opening the file as immutable keeps SQLite from making one.
"""

from __future__ import annotations

import asyncio
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from exec_daemon.box.errors import FactsUnavailable
from exec_daemon.box.ports import StoreFacts
from exec_daemon.store import PAGE, Agent, Approval, ApprovalState, LastRun, Spending
from exec_daemon.store.sqlite import (
    directory,
    journal,
    permissions,
    schema,
    spending,
    threads,
    timers,
    workers,
)
from exec_daemon.store.sqlite.check import check
from exec_daemon.store.timer_port import LISTED, TIMER_PAGE
from exec_daemon.store.timer_values import Timer, TimerRun, TimerState
from exec_daemon.store.worker_port import WORKER_PAGE
from exec_daemon.store.worker_values import ALIVE, Worker, WorkerState
from exec_daemon.store_facts import FactsFromStore
from messaging import Job, JobEvent, JobState, Message, Thread

T = TypeVar("T")
P = ParamSpec("P")


@contextmanager
def facts_on_disk(path: Path) -> Iterator[StoreFacts]:
    """The facts in the database `path`. Raises `StoreCorrupt`, `StoreNewer`, `StoreUnavailable`."""
    check(path, schema.newest())
    with closing(connect(path)) as db, _running_loop() as loop:
        yield FactsFromStore(_QuestionsOnDisk(db), loop)


def connect(path: Path) -> sqlite3.Connection:
    """A connection that is used in one thread, the loop's."""
    log, shared = (path.with_name(path.name + suffix) for suffix in ("-wal", "-shm"))
    at_rest = not shared.exists() and not (log.exists() and log.stat().st_size)
    mode = "mode=ro&immutable=1" if at_rest else "mode=ro"
    db = sqlite3.connect(f"{path.absolute().as_uri()}?{mode}", uri=True, check_same_thread=False)
    db.row_factory = sqlite3.Row
    return db


@contextmanager
def _running_loop() -> Iterator[asyncio.AbstractEventLoop]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="store-questions", daemon=True)
    thread.start()
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


class _QuestionsOnDisk:
    """`store_facts.Questions` over a connection that cannot write."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self._db = db

    def _ask(
        self, question: Callable[Concatenate[sqlite3.Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        try:
            return question(self._db, *args, **kwargs)
        except sqlite3.Error as fault:
            raise FactsUnavailable(str(fault)) from fault

    async def thread(self, thread_id: str) -> Thread | None:
        return self._ask(threads.thread, thread_id)

    async def threads(self, agent: str | None = None, limit: int = PAGE) -> list[Thread]:
        return self._ask(threads.threads, agent, limit)

    async def messages(self, thread_id: str, after: int = 0, limit: int = PAGE) -> list[Message]:
        return self._ask(threads.messages, thread_id, after, limit)

    async def agent(self, name: str) -> Agent | None:
        return self._ask(directory.agent, name)

    async def agents(self) -> list[Agent]:
        return self._ask(directory.agents)

    async def job(self, job_id: str) -> Job | None:
        return self._ask(journal.job, job_id)

    async def jobs(
        self, identity: str | None = None, state: JobState | None = None, limit: int = PAGE
    ) -> list[Job]:
        return self._ask(journal.jobs, identity, state, limit)

    async def events(self, job_id: str, after: int = -1) -> list[JobEvent]:
        return self._ask(journal.events, job_id, after)

    async def spending(self, since: str, agent: str | None = None) -> list[Spending]:
        return self._ask(spending.spending, since, agent)

    async def approvals(
        self, state: ApprovalState | None = None, identity: str | None = None, limit: int = PAGE
    ) -> list[Approval]:
        return self._ask(permissions.approvals, state, identity, limit)

    async def last_runs(self) -> list[LastRun]:
        return self._ask(spending.last_runs)

    async def timer(self, timer_id: str) -> Timer | None:
        return self._ask(timers.timer, timer_id)

    async def timers(
        self,
        *,
        created_by: str | None = None,
        name: str | None = None,
        states: tuple[TimerState, ...] = LISTED,
        limit: int = TIMER_PAGE,
    ) -> list[Timer]:
        return self._ask(timers.timers, created_by, name, states, limit)

    async def timer_runs(self, timer_id: str, limit: int = TIMER_PAGE) -> list[TimerRun]:
        return self._ask(timers.runs, timer_id, limit)

    async def worker(self, worker_id: str) -> Worker | None:
        return self._ask(workers.worker, worker_id)

    async def workers(
        self,
        *,
        owner: str | None = None,
        states: tuple[WorkerState, ...] = ALIVE,
        limit: int = WORKER_PAGE,
    ) -> list[Worker]:
        return self._ask(workers.workers, owner, states, limit)
