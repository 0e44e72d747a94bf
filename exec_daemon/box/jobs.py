"""jobs, job, timers and timer: what was asked for, what became of it, and what comes next."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from exec_daemon.box.errors import not_found
from exec_daemon.box.ports import BoxContext, StoreFacts
from exec_daemon.box.reading import Reading, absent, row
from messaging import Job

# O 7.1: open jobs and the last 20 that ended; the last 200 events of one. More open ones are a fault.
_ENDED: Final = 20
_OPEN: Final = 100
_EVENTS: Final = 200
_SHOWN: Final = ("id", "op", "identity", "thread", "created_at", "ended_at", "duration_ms")
_NO_TIMERS: Final = "this daemon has no timers"


def job_row(job: Job) -> dict[str, Any]:
    """A job in a list: without its arguments, its result as a verdict or an error code."""
    return {
        **{name: getattr(job, name) for name in _SHOWN},
        "state": str(job.state),
        "verdict": job.result.get("verdict") if isinstance(job.result, Mapping) else None,
        "error": job.error.get("code") if job.error else None,
    }


def jobs(facts: StoreFacts, context: BoxContext) -> Reading:
    """Open jobs and the last that ended, newest first."""
    found = facts.open_jobs(context.scope, _OPEN), facts.ended_jobs(context.scope, _ENDED)
    return Reading(
        dict(zip(("open", "ended"), ([job_row(job) for job in each] for each in found), strict=True))
    )


def job(facts: StoreFacts, context: BoxContext, job_id: str) -> Reading:
    """One job whole, with its last events."""
    found = facts.job(job_id, context.scope)
    if found is None:
        raise not_found("job", job_id)
    events = [event.to_json() for event in facts.job_events(job_id, _EVENTS)]
    return Reading({"job": found.to_json(), "events": events})


def timers(facts: StoreFacts, context: BoxContext) -> Reading:
    """The timers that the asker may see; runs are shown for one timer."""
    found = facts.timers(context.scope)
    if found is None:
        return absent(_NO_TIMERS)
    rows = [row(timer) for timer in found]
    return Reading(
        {"timers": [{k: v for k, v in each.items() if k not in ("runs", "definition")} for each in rows]}
    )


def timer(facts: StoreFacts, context: BoxContext, id_or_name: str) -> Reading:
    """One timer with its definition and last runs."""
    if facts.timers(context.scope) is None:
        return absent(_NO_TIMERS)
    found = facts.timer(id_or_name, context.scope)
    if found is None:
        raise not_found("timer", id_or_name)
    return Reading({"timer": row(found) | {"runs": [row(run) for run in found.runs]}})
