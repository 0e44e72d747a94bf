"""What is remembered no longer, in memory."""

from __future__ import annotations

from collections import Counter
from itertools import takewhile

from exec_daemon.store import once
from exec_daemon.store.memory.audit import MemoryAudit
from exec_daemon.store.retention import LEAST_LINES, Excess, Pruned
from messaging import Job, JobState


class MemoryPruning(MemoryAudit):
    """The `Keeping` part of the port; a batch is all that may go."""

    async def prune(self, excess: Excess) -> Pruned:
        jobs = [job for job in self._excess_jobs(excess) if job.state is not JobState.RUNNING]
        for job in jobs:
            self._forget(job)
        return Pruned(len(jobs), self._prune_lines(excess), self._prune_workers(excess.jobs_before))

    def _prune_workers(self, before: str) -> int:
        workers = self._tables.workers
        old = [one.id for one in workers.values() if one.ended_at is not None and one.ended_at < before]
        for worker_id in old:
            del workers[worker_id]
        return len(old)

    def _excess_jobs(self, excess: Excess) -> list[Job]:
        jobs = [entry.job for entry in self._tables.jobs.values()]
        old = list(takewhile(lambda job: job.created_at < excess.jobs_before, jobs))
        over = Counter(job.identity for job in jobs)
        for job in jobs:
            if excess.keep_jobs and over[job.identity] > excess.keep_jobs and job.state != JobState.RUNNING:
                over[job.identity] -= 1
                old.append(job)
        return list({job.id: job for job in old}.values())

    def _forget(self, job: Job) -> None:
        tables, call = self._tables, (job.identity, job.call_id)
        del tables.jobs[job.id]
        tables.events.pop(job.id, None)
        tables.artifacts = [one for one in tables.artifacts if one.job_id != job.id]
        if tables.calls.get(call) == job.id:
            del tables.calls[call]

    def _prune_lines(self, excess: Excess) -> int:
        lines = self._tables.audit
        over = self._last_line() - excess.keep_lines if excess.keep_lines else 0
        gone = list(takewhile(lambda line: line.at < excess.lines_before or line.seq <= over, lines))
        if len(gone) < LEAST_LINES:
            return 0
        self._tables.audit_start = (gone[-1].seq, gone[-1].hash)
        del lines[: len(gone)]
        self._note(once.pruned_line(gone[-1].seq, gone[-1].hash, self._clock()))
        return len(gone)
