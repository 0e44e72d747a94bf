"""The journal in memory. The rules are in `once`; here is only where things are put."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from exec_daemon.store import once
from exec_daemon.store.effects import Effect
from exec_daemon.store.errors import JobEnded, NoSuchJob
from exec_daemon.store.feed import job_topic
from exec_daemon.store.json_text import kept
from exec_daemon.store.memory.artifacts import MemoryArtifacts
from exec_daemon.store.memory.pruning import MemoryPruning
from exec_daemon.store.memory.threads import MemoryThreads
from exec_daemon.store.port import PAGE
from exec_daemon.store.values import AppendMessage, Begun, KeepArtifact, New, NewJob, Outcome
from messaging import EventType, Job, JobEvent, JobState


class MemoryJournal(MemoryThreads, MemoryArtifacts, MemoryPruning):
    """The `Journal` part of the port; effects append to threads and keep artifacts."""

    async def begin(self, new: NewJob) -> Begun:
        return self._begin(new, self._new_id("job"), self._clock())

    def _begin(self, new: NewJob, job_id: str, at: str) -> Begun:
        tables, call = self._tables, (new.identity, new.call_id)
        if call in tables.calls:
            return once.answer(tables.jobs[tables.calls[call]], new)
        entry = once.start(replace(new, args=kept(new.args)), job_id, at)
        tables.jobs[entry.job.id] = entry
        tables.calls[call] = entry.job.id
        self._write(once.accepted(entry.job))
        if not entry.repeatable:
            self._note(once.audit_line(entry))
        return New(entry.job)

    async def record(self, new: NewJob, job_id: str, outcome: Outcome, began_at: str) -> Job:
        once.check_record(new)
        kept(outcome.data)  # raises for what is not JSON, before there is a job
        self._begin(new, job_id, began_at)
        return self._finish(job_id, outcome, (), self._clock())

    async def finish(self, job_id: str, outcome: Outcome, effects: Sequence[Effect] = ()) -> Job:
        once.check_end(outcome, effects)
        return self._finish(job_id, outcome, [self._named(effect) for effect in effects], self._clock())

    def _finish(self, job_id: str, outcome: Outcome, named: Sequence[Effect], at: str) -> Job:
        entry = self._entry(job_id)
        outcome = replace(outcome, data=kept(outcome.data))
        if entry.job.state is not JobState.RUNNING:
            return entry.job
        with self._all_or_nothing():
            for effect in named:
                self._take_effect(effect, entry.job, at)
        return self._end(entry, outcome, at)

    def _named(self, effect: Effect) -> Effect:
        if not isinstance(effect, AppendMessage):
            return effect
        return replace(effect, id=effect.id or self._new_id("msg"))

    def _take_effect(self, effect: Effect, job: Job, at: str) -> None:
        if isinstance(effect, KeepArtifact):
            self._keep(effect.ref, job)
        elif isinstance(effect, AppendMessage):
            self._append(effect.message, effect.id or "", at)
        else:
            raise NotImplementedError(f"{type(effect).__name__} is taken where its part of the port is")

    async def add_event(self, job_id: str, event: EventType, payload: Mapping[str, Any]) -> JobEvent:
        once.check_step(event)
        return self._add_event(job_id, event, payload, self._clock())

    def _add_event(self, job_id: str, event: EventType, payload: Mapping[str, Any], at: str) -> JobEvent:
        if self._entry(job_id).job.state is not JobState.RUNNING:
            raise JobEnded(f"job {job_id} has ended", job_id)
        seq = len(self._tables.events[job_id])
        step = JobEvent(job_id=job_id, seq=seq, ts=at, type=event, payload=kept(payload))
        self._write(step)
        return step

    async def events(self, job_id: str, after: int = -1) -> list[JobEvent]:
        return [event for event in self._tables.events.get(job_id, ()) if event.seq > after]

    async def job(self, job_id: str) -> Job | None:
        entry = self._tables.jobs.get(job_id)
        return None if entry is None else entry.job

    async def jobs(
        self, identity: str | None = None, state: JobState | None = None, limit: int = PAGE
    ) -> list[Job]:
        newest_first = (entry.job for entry in reversed(self._tables.jobs.values()))
        wanted = (job for job in newest_first if identity in (None, job.identity))
        return [job for job in wanted if state in (None, job.state)][:limit]

    async def interrupt_running(self) -> list[Job]:
        at, entries = self._clock(), list(self._tables.jobs.values())
        running = [entry for entry in entries if once.ends_with_the_daemon(entry.job)]
        return [self._end(entry, once.interruption(entry), at) for entry in running]

    def _entry(self, job_id: str) -> once.Entry:
        if job_id not in self._tables.jobs:
            raise NoSuchJob(f"there is no job {job_id!r}", job_id)
        return self._tables.jobs[job_id]

    def _end(self, entry: once.Entry, outcome: Outcome, at: str) -> Job:
        tables, job = self._tables, once.end(entry.job, outcome, at)
        ended = tables.jobs[job.id] = replace(entry, job=job)
        if once.frees_call_id(outcome):
            del tables.calls[job.identity, job.call_id]
        self._note(once.audit_line(ended))
        self._write(once.terminal(job, len(tables.events[job.id])))
        return job

    def _write(self, event: JobEvent) -> None:
        self._tables.events[event.job_id].append(event)
        self._feed.publish((job_topic(event.job_id),))
