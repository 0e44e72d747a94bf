"""`/metrics` for Prometheus, and `/harvests`, where harvesters tell what they found."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Final

from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import Field
from starlette.responses import Response

from exec_daemon.api.answers import answer
from exec_daemon.api.body import Body, read_body
from exec_daemon.api.route import Ask
from exec_daemon.store import ApprovalState
from messaging import JobState

_MOST_JOBS: Final = 500
# The watcher's own cursor (harvester.watch).
_WATCHER: Final = "watcher"
_WORD: Final = r"^[A-Za-z0-9_]{1,40}$"
# More kinds than there are: forms times codes, and reasons.
_MOST_ROWS: Final = 512


class DirectivesBody(Body):
    """So many directives of one form ended in one way: OK, or an error's code."""

    form: str = Field(pattern=_WORD)
    outcome: str = Field(pattern=_WORD)
    count: int = Field(ge=1, le=1_000_000)


class SkippedBody(Body):
    """So many places were passed over for one reason."""

    reason: str = Field(pattern=_WORD)
    count: int = Field(ge=1, le=1_000_000)


class HarvestBody(Body):
    """What came since the last report."""

    directives: list[DirectivesBody] = Field(default_factory=list, max_length=_MOST_ROWS)
    skipped: list[SkippedBody] = Field(default_factory=list, max_length=_MOST_ROWS)


async def harvested(ask: Ask) -> Response:
    """Counts what a harvester found, for the metrics."""
    body = await read_body(ask.request, HarvestBody, ask.services.settings.limits.max_call_bytes)
    for found in body.directives:
        ask.services.metrics.harvested(found.form, found.outcome, found.count)
    for passed in body.skipped:
        ask.services.metrics.skipped(passed.reason, passed.count)
    return answer({"counted": len(body.directives) + len(body.skipped)})


def _bytes(database: Path) -> int:
    """The store on the disk, with its write-ahead log."""
    files = (database, database.with_name(database.name + "-wal"))
    return sum(file.stat().st_size for file in files if file.exists())


async def scrape(ask: Ask) -> Response:
    """Counters and gauges, in the text format of Prometheus."""
    services = ask.services
    store, database = services.store, services.settings.home / "store.db"
    gauges = {
        "inband_jobs_running": (
            f"Jobs that run now, at most {_MOST_JOBS}.",
            len(await store.jobs(None, JobState.RUNNING, _MOST_JOBS)),
        ),
        "inband_approvals_pending": (
            "Calls that wait for a person, at most 500.",
            len(await store.approvals(ApprovalState.PENDING, None, _MOST_JOBS)),
        ),
        "inband_last_position": ("Position of the newest message.", await store.last_position()),
        "inband_watcher_position": ("How far the watcher has got.", await store.cursor(_WATCHER)),
        "inband_store_bytes": (
            "Size of the store and its log on the disk.",
            await asyncio.to_thread(_bytes, database),
        ),
    }
    return Response(services.metrics.text(gauges), media_type=CONTENT_TYPE_LATEST)
