"""Pages that show reads of the machine and lists of ops as they are."""

from __future__ import annotations

from typing import Any, Final

from exec_daemon.api.endpoints import jobs, threads
from exec_daemon.api.endpoints import workers as workers_endpoint
from exec_daemon.api.route import Ask
from exec_daemon.web.asking import look, outcome, told
from messaging import CallError

_ON_OVERVIEW: Final = 8
_MOST_WORKERS: Final = 100


async def overview(ask: Ask) -> dict[str, Any]:
    """What runs, what was said last, what comes next, and how the machine is."""
    running = await told(ask, jobs.every, query={"state": "running", "limit": _ON_OVERVIEW})
    latest = await told(ask, threads.every, query={"limit": _ON_OVERVIEW})
    return {
        "jobs": running["jobs"],
        "threads": latest["threads"],
        "timers": (await _timers(ask))[:_ON_OVERVIEW],
        "health": list(await look(ask, "health")),
    }


async def timers(ask: Ask) -> dict[str, Any]:
    """The one that is due next first."""
    return {"timers": await _timers(ask)}


async def workers(ask: Ask) -> dict[str, Any]:
    """Agent processes that run for somebody."""
    query = {"state": "all", "limit": _MOST_WORKERS}
    return await told(ask, workers_endpoint.every, query=query)


async def health(ask: Ask) -> dict[str, Any]:
    """The machine and the daemon."""
    return {
        "looks": [(action, list(await look(ask, action))) for action in ("health", "queue", "disk", "memory")]
    }


async def _timers(ask: Ask) -> list[dict[str, Any]]:
    """Nobody's error: who may not list timers has none to see here."""
    ended = await outcome(ask, "cron.list")
    return [] if isinstance(ended, CallError) else list(ended.data["timers"])
