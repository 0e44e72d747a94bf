"""The `Journal` and `Audit` parts of `SqliteStore`: what is written at once, and what a moment later.

A job that may leave something behind outside has its row before it runs (`once.reserved_first`). The others
stand in `Behind` while they run. Those that change something are written at their end, with their effects;
those that change nothing after it, in groups, and nobody waits for that. Each write of the store takes along
what is behind, so that the file has everything in the order in which it happened.
"""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from exec_daemon.store import once
from exec_daemon.store.effects import Effect
from exec_daemon.store.errors import StoreError
from exec_daemon.store.feed import Feed, job_topic
from exec_daemon.store.json_text import dump
from exec_daemon.store.port import PAGE
from exec_daemon.store.retention import Excess, Pruned
from exec_daemon.store.sqlite import audit, journal, pruning
from exec_daemon.store.sqlite.behind import MOST_BEHIND, WRITE_BEHIND_S, Batch, Behind
from exec_daemon.store.sqlite.faults import any_fault
from exec_daemon.store.sqlite.files import open_reader
from exec_daemon.store.sqlite.lately import Lately
from exec_daemon.store.sqlite.part import SqlitePart
from exec_daemon.store.sqlite.writer import Write, Writer, Written
from exec_daemon.store.values import (
    AppendMessage,
    AuditCheck,
    AuditLine,
    Begun,
    New,
    NewAuditLine,
    NewJob,
    Outcome,
)
from messaging import EventType, Job, JobEvent, JobState

log = logging.getLogger(__name__)
T = TypeVar("T")
P = ParamSpec("P")


def _nothing(_: sqlite3.Connection) -> Written[None]:
    return Written(None)


class SqliteJournal(SqlitePart):
    """Jobs and the audit. Lives on the event loop."""

    _path: Path
    _writer: Writer
    _feed: Feed

    def __init__(self) -> None:
        super().__init__()
        self._behind = Behind()
        self._lately = Lately()
        self._timer: asyncio.TimerHandle | None = None
        self._catching_up: asyncio.Future[None] | None = None
        self._ending = 0
        self._finder: sqlite3.Connection | None = None

    async def begin(self, new: NewJob) -> Begun:
        job_id, at = self._new_id("job"), self._clock()
        if once.reserved_first(new):
            return await self._write(journal.begin, new, job_id, at)
        self._check_open()
        earlier = self._earlier(new)
        if earlier is not None:
            return once.answer(earlier, new)
        entry = once.start(new, job_id, at)
        self._behind.begin(entry)
        self._tell(job_id)
        return New(entry.job)

    async def record(self, new: NewJob, job_id: str, outcome: Outcome, began_at: str) -> Job:
        once.check_record(new)
        self._check_open()
        if outcome.text is None:
            dump(outcome.data)  # raises for what is not JSON while somebody is there to be told
        ended = once.whole(new, job_id, outcome, began_at, self._clock())
        self._behind.add(ended, outcome)
        self._write_soon()
        return ended.job

    def _earlier(self, new: NewJob) -> once.Entry | None:
        """The job that stands for the call. Where the file cannot be read, reads go on without it."""
        call = (new.identity, new.call_id)
        known = self._behind.of_call(*call) or self._lately.of_call(*call)
        if known is not None or new.fresh:
            return known
        try:
            found = self._look_up(journal.of_call, *call)
        except StoreError:
            if new.side_effecting:
                raise
            return None
        if found is not None:
            self._lately.add(found)
        return found

    def _look_up(
        self, read: Callable[Concatenate[sqlite3.Connection, P], T], *key: P.args, **more: P.kwargs
    ) -> T:
        """A row by its key, on the event loop: some 15 us, and the way to a reader's thread and back 100."""
        self._check_open()
        try:
            if self._finder is None:
                self._finder = open_reader(self._path)
            return read(self._finder, *key, **more)
        except sqlite3.Error as fault:
            raise any_fault(fault, self._path) from fault

    async def finish(self, job_id: str, outcome: Outcome, effects: Sequence[Effect] = ()) -> Job:
        once.check_end(outcome, effects)
        named, at = [self._named(effect) for effect in effects], self._clock()
        self._check_open()
        entry = self._behind.entries.get(job_id)
        if entry is not None and entry.job.state is not JobState.RUNNING:
            return entry.job
        if entry is None or effects or entry.job.side_effecting:
            return await self._finish_durably(job_id, outcome, named, at)
        if outcome.text is None:
            dump(outcome.data)  # raises for what is not JSON while somebody is there to be told
        ended = self._behind.end(entry, outcome, at)
        self._tell(job_id)
        return ended

    async def _finish_durably(self, job_id: str, outcome: Outcome, effects: Sequence[Effect], at: str) -> Job:
        """A job without a row gets it with its end."""
        unwritten = self._behind.take_begun(job_id)
        self._ending += 1
        try:
            if unwritten is None:
                ended = await self._write(journal.finish, job_id, outcome, effects, at)
            else:
                whole = once.ended(unwritten, outcome, at)
                ended = await self._write(journal.add_ended, whole, effects, at)
                self._lately.add(whole)
        except Exception:
            if unwritten is not None:
                self._behind.begin(unwritten)
            raise
        finally:
            self._ending -= 1
        self._behind.forget(ended)
        return ended

    def _named(self, effect: Effect) -> Effect:
        if not isinstance(effect, AppendMessage) or effect.id is not None:
            return effect
        return replace(effect, id=self._new_id("msg"))

    def _tell(self, job_id: str) -> None:
        """There is news of a job, which the file does not have yet."""
        self._feed.publish((job_topic(job_id),))
        self._write_soon()

    def _write_soon(self) -> None:
        if self._behind.changes >= MOST_BEHIND:
            self._catch_up()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(WRITE_BEHIND_S, self._catch_up)

    async def _in_order(self, write: Write[T]) -> T:
        """The value of `write`, committed together with all that was left for later."""
        if not self._behind.changes:
            return await self._writer.write(write)
        value: T = await self._catch_up(write)[-1]
        return value

    def _catch_up(self, *writes: Write[Any]) -> list[asyncio.Future[Any]]:
        """Puts what was left for later, and `writes` behind it."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        batch = self._behind.take()
        lost = once.lost_line(batch.lost, self._clock()) if batch.lost else None
        futures = self._writer.put(lambda db: journal.catch_up(db, batch, lost), *writes)
        self._catching_up = futures[0]
        futures[0].add_done_callback(partial(self._caught_up, batch))
        return futures

    def _caught_up(self, batch: Batch, done: asyncio.Future[None]) -> None:
        if self._catching_up is done:
            self._catching_up = None
        failed = done.exception()
        if failed is None:
            self._behind.settle(batch)
            return
        if not batch.lost:
            log.error("reads go on without journal and audit: %s", failed)
        self._behind.give_up(batch)

    async def _up_to_date(self) -> None:
        """Waits until the file has what happened; where it cannot be written, reads show what it has."""
        if self._behind.changes:
            self._catch_up()
        if self._catching_up is not None:
            await asyncio.wait({self._catching_up})
        if self._ending:  # behind the ends that are being written
            with suppress(StoreError):
                await self._writer.write(_nothing)

    async def _stop_catching_up(self) -> None:
        await self._up_to_date()
        if self._timer is not None:
            self._timer.cancel()
        if self._finder is not None:
            self._finder.close()

    async def add_event(self, job_id: str, event: EventType, payload: Mapping[str, Any]) -> JobEvent:
        once.check_step(event)
        return await self._write(journal.add_event, job_id, event, payload, self._clock())

    async def events(self, job_id: str, after: int = -1) -> list[JobEvent]:
        await self._up_to_date()
        return await self._read(journal.events, job_id, after)

    async def job(self, job_id: str) -> Job | None:
        await self._up_to_date()
        return await self._read(journal.job, job_id)

    async def jobs(
        self, identity: str | None = None, state: JobState | None = None, limit: int = PAGE
    ) -> list[Job]:
        await self._up_to_date()
        return await self._read(journal.jobs, identity, state, limit)

    async def interrupt_running(self) -> list[Job]:
        ended = await self._write(journal.interrupt_running, self._clock())
        for job in ended:
            self._behind.forget(job)
        return ended

    async def note(self, line: NewAuditLine) -> AuditLine:
        return await self._write(audit.note, line)

    async def audit(self, limit: int = PAGE, before: int | None = None) -> list[AuditLine]:
        await self._up_to_date()
        return await self._read(audit.audit, limit, before)

    async def check_audit(self, noted: Mapping[int, str] | None = None) -> AuditCheck:
        await self._up_to_date()
        last = await self._read(audit.last)
        checker = await self._read(audit.checker, noted)
        while await self._read(audit.check_slice, checker):
            pass
        return checker.close(last)

    async def prune(self, excess: Excess) -> Pruned:
        await self._up_to_date()
        numbers = await self._read(pruning.excess_jobs, excess)
        last = await self._read(pruning.last_excess_line, excess)
        jobs = await self._write(pruning.prune_jobs, numbers) if numbers else 0
        self._lately.clear()
        lines = await self._write(pruning.prune_lines, last, self._clock()) if last else 0
        before = excess.jobs_before
        gone = Pruned(jobs, lines, await self._write(pruning.prune_workers, before) if before else 0)
        if gone:
            await self._write(pruning.shrink)
        return gone
