"""Keeps journal, workers and audit within what an operator wants remembered, bit by bit."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Final

from exec_daemon.store import Excess, Pruned, Retention, Store, StoreError
from messaging.moment import iso

log = logging.getLogger(__name__)

EVERY_S: Final = 60.0
# Between two batches, so that calls come first.
_PAUSE_S: Final = 0.05


def excess(wanted: Retention, now: datetime) -> Excess:
    """What may go at this time."""

    def before(days: int) -> str:
        return iso(now - timedelta(days=days)) if days else ""

    return Excess(
        jobs_before=before(wanted.keep_days),
        keep_jobs=wanted.keep_jobs,
        lines_before=before(wanted.audit_days),
        keep_lines=wanted.audit_lines,
    )


async def prune(store: Store, wanted: Retention, now: datetime) -> None:
    """Until nothing is left that may go. Raises `StoreError`."""
    what, total = excess(wanted, now), Pruned()
    while gone := await store.prune(what):
        total = total.plus(gone)
        await asyncio.sleep(_PAUSE_S)
    if total:
        told = "%d jobs, %d workers and %d lines of the audit are remembered no longer"
        log.info(told, total.jobs, total.workers, total.lines)


async def keep_pruning(
    store: Store, wanted: Retention, clock: Callable[[], datetime] = lambda: datetime.now(UTC)
) -> None:
    """For as long as it is not cancelled."""
    while True:
        with contextlib.suppress(StoreError):  # what could not go now goes a minute later
            await prune(store, wanted, clock())
        await asyncio.sleep(EVERY_S)
