"""Jobs and their events, wherever they run: journaled, or told by callback (M-54 to M-56)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from exec_daemon.store import Arrival, OutsideJob, Store
from messaging import EventSequence, EventType, Job, JobEvent, JobState

# The `op` of a job that runs elsewhere: no call of ours made it.
OUTSIDE: Final = "outside"

_STATES: Final = {EventType.SUCCEEDED: JobState.SUCCEEDED, EventType.FAILED: JobState.FAILED}


async def job_anywhere(store: Store, job_id: str, now: str) -> Job | None:
    """The job of this id; None for none."""
    outside = await store.outside_job(job_id)
    return await store.job(job_id) if outside is None else await _shown(store, outside, now)


async def jobs_elsewhere(store: Store, state: JobState | None, limit: int, now: str) -> list[Job]:
    """The newest `limit` of those that run elsewhere, as far as they are in `state`; the newest first."""
    jobs = [await _shown(store, outside, now) for outside in await store.outside_jobs(limit)]
    return [job for job in jobs if state in (None, job.state)]


async def _shown(store: Store, outside: OutsideJob, now: str) -> Job:
    standing = await store.standing(outside.id)
    if not standing.has_gap:
        return _as_job(outside, standing.end, incomplete=False)
    sequence = _sequence(await store.arrivals(outside.id))
    told = sequence.ready(_seconds(now))
    end = standing.end if standing.end in told else None
    return _as_job(outside, end, incomplete=sequence.incomplete)


async def events_anywhere(store: Store, job: Job, after: int, now: str) -> list[JobEvent]:
    """Events with `seq` > `after`, in order, without what still waits for an earlier one."""
    if job.op != OUTSIDE:
        return await store.events(job.id, after)
    return _sequence(await store.arrivals(job.id, after), after).ready(_seconds(now))


def _sequence(arrivals: Sequence[Arrival], after: int = -1) -> EventSequence:
    sequence = EventSequence(after=after)
    for arrival in arrivals:
        sequence.feed(arrival.event, _seconds(arrival.received_at))
    return sequence


def _seconds(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp()


def _as_job(outside: OutsideJob, end: JobEvent | None, *, incomplete: bool) -> Job:
    failed = end is not None and end.type is EventType.FAILED
    return Job(
        id=outside.id,
        op=OUTSIDE,
        args={},
        call_id=outside.id,
        identity=outside.identity,
        state=JobState.RUNNING if end is None else _STATES[end.type],
        created_at=outside.created_at,
        side_effecting=True,
        ended_at=None if end is None else end.ts,
        result=None if end is None else end.payload.get("result"),
        error=end.payload if end is not None and failed else None,
        incomplete=incomplete,
    )
