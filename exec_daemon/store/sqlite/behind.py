"""Jobs that the file does not have yet, or not as they stand: the journal's write-behind.

A call that changes nothing costs no commit: its job is written with others, a moment later. One whose effects
are all in our store needs no reservation either, since it commits together with them: until then it stands
here. What a crash takes from here had no effect (docs/why/once.md).

Lives on the event loop. `take` gives what has changed, for one write; `settle` says that it is durable.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from exec_daemon.store import once
from exec_daemon.store.values import Outcome
from messaging import Job, JobState

# For so long after a call that changes nothing, a crash can take its job and its audit line.
WRITE_BEHIND_S: Final = 0.1
# So many are written at once at the latest; more would make what waits behind them wait long.
MOST_BEHIND: Final = 256


@dataclass(frozen=True, slots=True)
class Batch:
    """What the file lacks: `begun` are jobs without a row, as they stand; `ended` are all that have ended.

    `lost` counts ended jobs that could not be written before; the audit is told.
    """

    begun: tuple[once.Entry, ...]
    ended: tuple[once.Entry, ...]
    lost: int = 0


@dataclass(slots=True)
class Behind:
    """`entries` are jobs by id: all that run and may be written behind, and what is not settled."""

    entries: dict[str, once.Entry] = field(default_factory=dict)
    _lost: int = 0
    _calls: dict[tuple[str, str], str] = field(default_factory=dict)
    _begun: dict[str, None] = field(default_factory=dict)
    _ended: dict[str, None] = field(default_factory=dict)

    @property
    def changes(self) -> int:
        """How many beginnings and ends the file does not have, and the word of what was lost."""
        return len(self._begun) + len(self._ended) + bool(self._lost)

    def of_call(self, identity: str, call_id: str) -> once.Entry | None:
        """The job that stands for the call."""
        job_id = self._calls.get((identity, call_id))
        return None if job_id is None else self.entries[job_id]

    def begin(self, entry: once.Entry) -> None:
        """The job runs from now on."""
        job = entry.job
        self.entries[job.id] = entry
        self._calls[job.identity, job.call_id] = job.id
        self._begun[job.id] = None

    def add(self, ended: once.Entry, outcome: Outcome) -> None:
        """The job has begun and ended."""
        self.begin(ended)
        self._ended[ended.job.id] = None
        if once.frees_call_id(outcome):
            self._free(ended.job)

    def take_begun(self, job_id: str) -> once.Entry | None:
        """The job, if its beginning is still to be written: whoever takes it writes all of it."""
        if job_id not in self._begun:
            return None
        del self._begun[job_id]
        return self.entries[job_id]

    def end(self, entry: once.Entry, outcome: Outcome, at: str) -> Job:
        """The job, ended."""
        ended = once.ended(entry, outcome, at)
        job = ended.job
        self.entries[job.id] = ended
        self._ended[job.id] = None
        if once.frees_call_id(outcome):
            self._free(job)
        return job

    def forget(self, job: Job) -> None:
        """The job is in the file as it stands."""
        if self.entries.pop(job.id, None) is not None:
            self._begun.pop(job.id, None)
            self._ended.pop(job.id, None)
            self._free(job)

    def _free(self, job: Job) -> None:
        call = (job.identity, job.call_id)
        if self._calls.get(call) == job.id:
            del self._calls[call]

    def take(self) -> Batch:
        """What is to be written now; it is found here until it is settled."""
        batch = Batch(
            tuple(self.entries[job_id] for job_id in self._begun),
            tuple(self.entries[job_id] for job_id in self._ended),
            self._lost,
        )
        self._lost = 0
        self._begun.clear()
        self._ended.clear()
        return batch

    def settle(self, batch: Batch) -> None:
        """It is durable. What runs stays, since its end is still to come."""
        for entry in batch.ended:
            self.forget(entry.job)

    def give_up(self, batch: Batch) -> None:
        """It could not be written. What runs is tried again; of what has ended only the count remains."""
        self._lost += batch.lost + len(batch.ended)
        self.settle(batch)
        for entry in batch.begun:
            now = self.entries.get(entry.job.id)
            if now is not None and now.job.state is JobState.RUNNING:
                self._begun[entry.job.id] = None
