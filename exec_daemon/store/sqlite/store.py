"""`SqliteStore`: the port, each method one closure for the writer or the readers.

Times and ids are taken when a method is called, on the event loop, so that the sources need no locks.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Concatenate, Final, ParamSpec, TypeVar

from exec_daemon.store.errors import StoreBusy, StoreClosed
from exec_daemon.store.feed import Feed, Subscription
from exec_daemon.store.outside_port import OUTSIDE_PAGE
from exec_daemon.store.outside_values import Arrival, OutsideJob, Reception, Standing
from exec_daemon.store.port import PAGE
from exec_daemon.store.rpc_values import RpcAnswer, RpcTask
from exec_daemon.store.sources import Clock, NewId, random_id, utc_now
from exec_daemon.store.sqlite import (
    artifacts,
    directory,
    outside,
    rpc,
    spending,
    threads,
    timers,
)
from exec_daemon.store.sqlite.files import open_database
from exec_daemon.store.sqlite.journal_part import SqliteJournal
from exec_daemon.store.sqlite.lock import Ownership
from exec_daemon.store.sqlite.permissions_part import SqlitePermissions
from exec_daemon.store.sqlite.reader import Reader
from exec_daemon.store.sqlite.readings_part import SqliteReadings
from exec_daemon.store.sqlite.tokens_part import SqliteTokens
from exec_daemon.store.sqlite.workers_part import SqliteWorkers
from exec_daemon.store.sqlite.writer import Writer, Written
from exec_daemon.store.timer_port import LISTED, TIMER_PAGE
from exec_daemon.store.timer_values import Timer, TimerRun, TimerState, TimerStep
from exec_daemon.store.values import Agent, AgentRun, Appended, Artifact, LastRun, NewThread, Spending
from messaging import JobEvent, Message, NewMessage, Thread

# Renames take moments; what else happens meanwhile is the daemon's own stop.
_RESTORE_S: Final = 30.0
_POLL_S: Final = 0.1

T = TypeVar("T")
P = ParamSpec("P")


async def open_store(path: Path, *, clock: Clock = utc_now, new_id: NewId = random_id) -> SqliteStore:
    """The store in the file `path`, made when there is none; its folder must exist.

    Raises `StoreLocked`, `StoreCorrupt` and `StoreNewer` before anything is touched, `StoreUnavailable`
    and its kinds when the disk does not serve. Belongs to the running event loop.
    """
    ownership, db = await asyncio.to_thread(_take, path)
    return SqliteStore(path, ownership, db, clock, new_id)


def _own(path: Path) -> Ownership:
    """The ownership; a backup that is being put in place is waited for."""
    until_s = time.monotonic() + _RESTORE_S
    while True:
        try:
            return Ownership(path)
        except StoreBusy:
            if time.monotonic() > until_s:
                raise
            time.sleep(_POLL_S)


def _take(path: Path) -> tuple[Ownership, sqlite3.Connection]:
    ownership = _own(path)
    try:
        return ownership, open_database(path)
    except BaseException:
        ownership.release()
        raise


class SqliteStore(SqliteJournal, SqliteTokens, SqlitePermissions, SqliteReadings, SqliteWorkers):
    """A `Store` on disk; made by `open_store`."""

    def __init__(
        self, path: Path, ownership: Ownership, db: sqlite3.Connection, clock: Clock, new_id: NewId
    ) -> None:
        super().__init__()
        self._ownership = ownership
        self._clock = clock
        self._new_id = new_id
        self._feed = Feed()
        self._writer = Writer(db, path, self._feed)
        self._reader = Reader(path)
        self._path = path
        self._closed = False

    async def _write(
        self,
        write: Callable[Concatenate[sqlite3.Connection, P], Written[T]],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        self._check_open()
        return await self._in_order(lambda db: write(db, *args, **kwargs))

    async def _read(
        self, read: Callable[Concatenate[sqlite3.Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        self._check_open()
        return await self._reader.read(lambda db: read(db, *args, **kwargs))

    def _check_open(self) -> None:
        if self._closed:
            raise StoreClosed(f"the store {self._path} is closed", str(self._path))

    async def create_thread(self, new: NewThread) -> Thread:
        return await self._write(threads.create, new, self._clock())

    async def thread(self, thread_id: str) -> Thread | None:
        return self._look_up(threads.thread, thread_id)

    async def threads(self, agent: str | None = None, limit: int = PAGE) -> list[Thread]:
        return await self._read(threads.threads, agent, limit)

    async def append(self, new: NewMessage) -> Appended:
        return await self._write(threads.append, new, self._new_id("msg"), self._clock())

    async def message(self, message_id: str) -> Message | None:
        return await self._read(threads.message, message_id)

    async def messages(self, thread_id: str, after: int = 0, limit: int = PAGE) -> list[Message]:
        return await self._read(threads.messages, thread_id, after, limit)

    async def replies(self, after: int = 0, limit: int = PAGE) -> list[Message]:
        return await self._read(threads.replies, after, limit)

    async def last_position(self) -> int:
        return await self._read(threads.last_position)

    async def add_agent(self, agent: Agent) -> Agent:
        return await self._write(directory.add_agent, agent, self._clock())

    async def agent(self, name: str) -> Agent | None:
        return self._look_up(directory.agent, name)

    async def agents(self) -> list[Agent]:
        return await self._read(directory.agents)

    async def cursor(self, name: str) -> int:
        return await self._read(directory.cursor, name)

    async def set_cursor(self, name: str, position: int) -> None:
        await self._write(directory.set_cursor, name, position)

    async def expect(self, job_id: str, identity: str) -> OutsideJob:
        return await self._write(outside.expect, job_id, identity, self._clock())

    async def outside_job(self, job_id: str) -> OutsideJob | None:
        return await self._read(outside.outside_job, job_id)

    async def outside_jobs(self, limit: int = OUTSIDE_PAGE) -> list[OutsideJob]:
        return await self._read(outside.outside_jobs, limit)

    async def receive(self, event: JobEvent, sha256: str) -> Reception:
        return await self._write(outside.receive, event, sha256, self._clock())

    async def arrivals(self, job_id: str, after: int = -1) -> list[Arrival]:
        return await self._read(outside.arrivals, job_id, after)

    async def standing(self, job_id: str) -> Standing:
        return await self._read(outside.standing, job_id)

    async def add_run(self, run: AgentRun) -> bool:
        return await self._write(spending.add, run, self._clock())

    async def spending(self, since: str, agent: str | None = None) -> list[Spending]:
        return await self._read(spending.spending, since, agent)

    async def last_runs(self) -> list[LastRun]:
        return await self._read(spending.last_runs)

    async def artifact(self, sha256: str, identity: str | None = None) -> Artifact | None:
        return await self._read(artifacts.artifact, sha256, identity)

    async def rpc_answer(self, identity: str, request_id: str) -> RpcAnswer | None:
        return await self._read(rpc.answer, identity, request_id)

    async def keep_rpc_answer(self, kept: RpcAnswer, *, since: str, most: int) -> None:
        await self._write(rpc.keep_answer, kept, since, most)

    async def rpc_tasks(self, identity: str) -> list[RpcTask]:
        return await self._read(rpc.tasks, identity)

    async def keep_rpc_task(self, task: RpcTask) -> None:
        await self._write(rpc.keep_task, task)

    async def step_timer(self, step: TimerStep) -> bool:
        return await self._write(timers.step, step, self._clock())

    async def forget_runs(self, before: str) -> int:
        return await self._write(timers.forget, before)

    async def timer(self, timer_id: str) -> Timer | None:
        return await self._read(timers.timer, timer_id)

    async def timers(
        self,
        *,
        created_by: str | None = None,
        name: str | None = None,
        states: tuple[TimerState, ...] = LISTED,
        limit: int = TIMER_PAGE,
    ) -> list[Timer]:
        return await self._read(timers.timers, created_by, name, states, limit)

    async def due_timers(self, now: str, limit: int) -> list[Timer]:
        return await self._read(timers.due_timers, now, limit)

    async def waking_runs(self, now: str, limit: int) -> list[TimerRun]:
        return await self._read(timers.waking_runs, now, limit)

    async def next_timer_at(self) -> str | None:
        return await self._read(timers.next_at)

    async def timer_runs(self, timer_id: str, limit: int = TIMER_PAGE) -> list[TimerRun]:
        return await self._read(timers.runs, timer_id, limit)

    async def standing_runs(self, timer_id: str) -> list[TimerRun]:
        return await self._read(timers.standing, timer_id)

    async def open_runs(self, thread_id: str) -> list[TimerRun]:
        return await self._read(timers.open_runs, thread_id)

    async def run_of_job(self, job_id: str) -> TimerRun | None:
        return await self._read(timers.run_by, "job", job_id)

    async def run_of_reply(self, reply_id: str) -> TimerRun | None:
        return await self._read(timers.run_by, "reply", reply_id)

    def subscribe(self, *topics: str) -> Subscription:
        return self._feed.subscribe(*topics)

    async def close(self) -> None:
        """Readers first: the last connection to close clears the write-ahead log away."""
        if self._closed:
            return
        self._closed = True
        await self._stop_catching_up()
        await self._reader.close()
        await self._writer.close()
        self._ownership.release()
