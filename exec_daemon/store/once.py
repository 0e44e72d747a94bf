"""The rules of "once" (docs/why/once.md), pure: what a journal answers, how a job ends, who keeps a call id.

Every store asks these functions, so that two stores cannot differ in them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from exec_daemon.store.audit_chain import PRUNE
from exec_daemon.store.effects import Effect
from exec_daemon.store.outside_values import Reception
from exec_daemon.store.values import Begun, Conflict, Done, NewAuditLine, NewJob, Outcome, Running
from messaging import ErrorCode, EventType, Job, JobEvent, JobState, artifact_in, error
from messaging.quick import quickly_made

_STEPS = frozenset({EventType.PROGRESS, EventType.WARNING})

# Jobs whose end comes from an agent, be the daemon the same by then or another: the runs of timers,
# and workers.
OUTLASTING = frozenset({"timer", "worker"})


@quickly_made
@dataclass(frozen=True, slots=True)
class Entry:
    """A job as the journal has it: what is shown, and what only the rules need.

    `text` is the job's result as it is kept, where somebody has written it already.
    """

    job: Job
    digest: str
    effects_inside: bool
    on_behalf_of: str | None = None
    asked_by: str | None = None
    text: str | None = None

    @property
    def repeatable(self) -> bool:
        """A run that did not end did nothing."""
        return self.effects_inside or not self.job.side_effecting


def start(new: NewJob, job_id: str, at: str) -> Entry:
    """The entry of a job that is about to run."""
    job = Job(
        id=job_id,
        op=new.op,
        args=new.args,
        call_id=new.call_id,
        identity=new.identity,
        state=JobState.RUNNING,
        created_at=at,
        side_effecting=new.side_effecting,
        thread=new.thread,
        reply=new.reply,
    )
    return Entry(job, new.digest, new.effects_inside, new.on_behalf_of, new.asked_by)


def accepted(job: Job) -> JobEvent:
    """The first event of a job. What it is about (M-05) is the call; its own address names it."""
    payload = {"url": f"/jobs/{job.id}", "op": job.op}
    return JobEvent(job_id=job.id, seq=0, ts=job.created_at, type=EventType.ACCEPTED, payload=payload)


def answer(earlier: Entry, new: NewJob) -> Begun:
    """What `begin` answers when `earlier` holds the call id of `new`."""
    if earlier.digest != new.digest:
        return Conflict(earlier.job)
    running = earlier.job.state is JobState.RUNNING
    return Running(earlier.job) if running else Done(earlier.job, earlier.text)


def reserved_first(new: NewJob) -> bool:
    """Has its reservation to be durable before it runs? So where a run may leave something behind."""
    return (new.side_effecting and not new.effects_inside) or new.op in OUTLASTING


def holds_call(job: Job) -> bool:
    """Does the job stand for its call id? See `frees_call_id`."""
    return job.error is None or not job.error["retryable"]


def frees_call_id(outcome: Outcome) -> bool:
    """May the same call run again? So after a retryable error: a stored BUSY would last for ever."""
    return outcome.error is not None and outcome.error.retryable


def whole(new: NewJob, job_id: str, outcome: Outcome, began_at: str, at: str) -> Entry:
    """The entry of a job that has run before anybody was told of it."""
    job = Job(
        id=job_id,
        op=new.op,
        args=new.args,
        call_id=new.call_id,
        identity=new.identity,
        created_at=began_at,
        side_effecting=new.side_effecting,
        thread=new.thread,
        reply=new.reply,
        **_ending(outcome, at),
    )
    return Entry(job, new.digest, new.effects_inside, new.on_behalf_of, new.asked_by, outcome.text)


def ended(entry: Entry, outcome: Outcome, at: str) -> Entry:
    """The entry of the job, ended."""
    return Entry(
        end(entry.job, outcome, at),
        entry.digest,
        entry.effects_inside,
        entry.on_behalf_of,
        entry.asked_by,
        outcome.text,
    )


def end(job: Job, outcome: Outcome, at: str) -> Job:
    """The job, ended. Field by field: `replace` takes three times as long, and each call ends."""
    return Job(
        id=job.id,
        op=job.op,
        args=job.args,
        call_id=job.call_id,
        identity=job.identity,
        created_at=job.created_at,
        side_effecting=job.side_effecting,
        thread=job.thread,
        reply=job.reply,
        **_ending(outcome, at),
    )


def _ending(outcome: Outcome, at: str) -> dict[str, Any]:
    return {
        "state": JobState.SUCCEEDED if outcome.error is None else JobState.FAILED,
        "ended_at": at,
        "duration_ms": outcome.duration_ms,
        "result": outcome.data,
        "error": None if outcome.error is None else outcome.error.to_json(),
    }


def terminal(ended: Job, seq: int) -> JobEvent:
    """The last event of a job that has ended: M-08, or M-09 with the other fields of its error."""
    kind = end_type(ended)
    failed = kind is EventType.FAILED
    payload: dict[str, Any] = dict(ended.error or {}) if failed else _success(ended.result)
    return JobEvent(
        job_id=ended.id,
        seq=seq,
        ts=ended.ended_at or "",
        type=kind,
        payload=payload | {"duration_ms": ended.duration_ms},
    )


def both(ended: Job) -> tuple[JobEvent, JobEvent]:
    """All events of a job that nothing was told of between its beginning and its end."""
    return accepted(ended), terminal(ended, 1)


def end_type(ended: Job) -> EventType:
    """The kind of a job's last event."""
    return EventType.FAILED if ended.state is JobState.FAILED else EventType.SUCCEEDED


def _success(result: Any) -> dict[str, Any]:
    """M-08; the artifact that a result names stands beside it (M-89)."""
    ref = artifact_in(result)
    return {"result": result} | ({"artifacts": [ref.to_json()]} if ref else {})


def audit_line(entry: Entry) -> NewAuditLine:
    """What the audit is told of the job as it stands (O-34).

    A job that may have effects outside is told twice: that it runs, before it does, and how it ended.
    """
    job = entry.job
    return NewAuditLine(
        at=job.ended_at or job.created_at,
        identity=job.identity,
        asked_by=entry.asked_by,
        op=job.op,
        args_digest=entry.digest,
        call_id=job.call_id,
        job_id=job.id,
        outcome=str(job.state if job.error is None else job.error["code"]),
        duration_ms=job.duration_ms,
    )


def ends_with_the_daemon(job: Job) -> bool:
    """Is nobody at work on a running job any more when its daemon has gone?"""
    return job.state is JobState.RUNNING and job.op not in OUTLASTING


def lost_line(count: int, at: str) -> NewAuditLine:
    """What the audit is told when `count` calls that changed nothing could not be written."""
    return NewAuditLine(
        at=at,
        identity="daemon/store",
        op="audit.lost",
        args_digest="",
        call_id=str(count),
        outcome=str(ErrorCode.UNAVAILABLE),
    )


def pruned_line(last: int, hashed: str, at: str) -> NewAuditLine:
    """What the audit is told when its lines up to number `last` are remembered no longer."""
    return NewAuditLine(
        at=at,
        identity="daemon/store",
        op=PRUNE,
        args_digest=hashed,
        call_id=str(last),
        outcome=str(JobState.SUCCEEDED),
    )


def interruption(entry: Entry) -> Outcome:
    """How a job ends whose daemon died while it ran."""
    job = entry.job
    if entry.repeatable:
        code, meaning = ErrorCode.UNAVAILABLE, "nothing happened; send the call again"
    else:
        code, meaning = ErrorCode.INTERRUPTED, f"{job.op} may have taken effect; look before you repeat it"
    said = f"the daemon stopped while the call ran: {meaning}"
    return Outcome(error=error(code, said, side_effecting=job.side_effecting))


def check_end(outcome: Outcome, effects: Sequence[Effect]) -> None:
    """Raises ValueError for an end that contradicts itself."""
    if outcome.error is not None and (effects or outcome.data is not None):
        raise ValueError("a job that failed has neither data nor effects")


def check_record(new: NewJob) -> None:
    """Raises ValueError for a job that has to be journaled before it runs."""
    if new.side_effecting or not new.fresh:
        raise ValueError("only a read with a call id of our own is journaled after it")


def check_step(event: EventType) -> None:
    """Raises ValueError for an event that only the journal itself may write."""
    if event not in _STEPS:
        raise ValueError(f"{event} is written by begin and finish")


def reception(event: JobEvent, sha256: str, same: str | None, end: int | None) -> Reception:
    """What becomes of an event that comes from outside (M-11, M-53).

    `same` is the hash of what came with its number before, `end` the number of the terminal event.
    """
    if same is not None:
        return Reception.REPLAYED if same == sha256 else Reception.CONFLICT
    after_the_end = end is not None and (event.seq > end or event.type.terminal)
    return Reception.CONFLICT if after_the_end else Reception.STORED
