"""The jobs, and one of them with its events on a time line."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from exec_daemon.api.endpoints import jobs
from exec_daemon.api.route import Ask
from exec_daemon.web.asking import told


async def every(ask: Ask) -> dict[str, Any]:
    """The newest first."""
    state = ask.request.query_params.get("state", "")
    query = {"limit": 200} | ({"state": state} if state else {})
    return {**await told(ask, jobs.every, query=query), "state": state}


async def one(ask: Ask) -> dict[str, Any]:
    """A job and what happened when."""
    job_id = ask.request.path_params["id"]
    job = await told(ask, jobs.one, id=job_id)
    events = (await told(ask, jobs.events, id=job_id))["events"]
    began = datetime.fromisoformat(job["created_at"])
    for event in events:
        event["after_ms"] = round((datetime.fromisoformat(event["ts"]) - began).total_seconds() * 1000)
        event["more"] = {key: value for key, value in event.items() if key not in _HEAD}
    return {"job": job, "events": events}


_HEAD = frozenset(("job_id", "seq", "ts", "type", "after_ms", "more"))
