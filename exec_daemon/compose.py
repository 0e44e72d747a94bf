"""Everything behind the listener, put together, opened and closed in order."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from exec_daemon.access.callback_secret import callback_secret
from exec_daemon.access.grant_book import GrantBook
from exec_daemon.access.stack import Grants
from exec_daemon.access.tokens import ensure_bootstrap
from exec_daemon.approvals.deciding import Deciding
from exec_daemon.background import background, ensure_own_certificate, write_token_uses
from exec_daemon.calls.grant_check import check_grants, ways_around
from exec_daemon.calls.registry import Registry, registry
from exec_daemon.certificates.authority import Authority
from exec_daemon.certificates.trust import Keeper, files_of
from exec_daemon.discovery import check_discovery
from exec_daemon.home import Home
from exec_daemon.mcp.door import Door as McpDoor
from exec_daemon.mcp_servers.at_start import mcp_ops
from exec_daemon.metrics import Metrics
from exec_daemon.parts import Parts
from exec_daemon.places import Places
from exec_daemon.programs import Programs
from exec_daemon.programs_at_start import all_ops, take_stock
from exec_daemon.services import Services
from exec_daemon.settings import DaemonSettings
from exec_daemon.stopping import Stopping
from exec_daemon.store import Store, open_store, random_id, utc_now
from exec_daemon.timing import timer_desk
from exec_daemon.version import version
from exec_daemon.web.sessions import Sessions
from exec_daemon.workers.desk import WorkerDesk

log = logging.getLogger(__name__)


async def _prepare(settings: DaemonSettings, home: Home, store: Store) -> None:
    """What each start does before anybody is served."""
    ensure_own_certificate(settings, home)
    Authority(home).ensure_crl()
    await ensure_bootstrap(store, home, clock=utc_now, new_id=random_id)
    for job in await store.interrupt_running():
        log.warning("job %s (%s) was interrupted by the last stop", job.id, job.op)


async def _grant_book(settings: DaemonSettings, store: Store, ops: Registry) -> GrantBook:
    """The grants of `box.toml` and of the store. Raises `DaemonError` for a rule that names no op."""
    check_grants(settings.policy, ops)
    if around := ways_around(settings.policy, ops):
        log.warning("[chain] bar leaves open what carries words on: %s (docs/grants.md)", ", ".join(around))
    grants = Grants(settings.policy.grants, settings.limits.rates, settings.policy.approvals.ops)
    book = GrantBook(store, grants)
    await book.load()
    return book


def _services(parts: Parts) -> Services:
    settings, home, store, ops = parts.settings, parts.home, parts.store, parts.ops
    stopping = Stopping()
    return Services(
        settings=settings,
        store=store,
        registry=ops,
        executor=parts.executor,
        deciding=Deciding(store=store, registry=ops, executor=parts.executor, clock=utc_now),
        grants=parts.book,
        buckets=parts.buckets,
        artifacts=parts.artifacts,
        clock=utc_now,
        new_id=random_id,
        stopping=stopping,
        callback_secret=callback_secret(home),
        places=Places(settings.limits.most_open, settings.limits.most_streams),
        trust=Keeper(files_of(home, settings.certificate, settings.certificate_key)),
        desk=parts.desk,
        programs=parts.programs,
        timers=timer_desk(store, ops, parts.book.grants, parts.gates),
        workers=WorkerDesk(store=store, clock=utc_now, new_id=random_id),
        metrics=Metrics(frozenset(ops.ops)),
        sessions=Sessions(time.monotonic),
        mcp=McpDoor(parts.executor, store, ops, version(), stopping),
    )


async def _end(services: Services) -> None:
    """What was begun is finished or told to end, in this order: first what asks, then what runs."""
    services.stopping.set()
    await services.mcp.ended()
    await services.desk.close()
    await services.executor.jobs.drain(services.stopping.left_s(services.settings.limits.drain_s))
    await services.deciding.close()
    await write_token_uses(services)


@asynccontextmanager
async def services_of(settings: DaemonSettings, home: Home) -> AsyncIterator[Services]:
    """The services of a daemon, for as long as it lasts.

    Raises `StoreError` or `DaemonError`. The store comes first: only one daemon can have it.
    """
    store = await open_store(home.database)
    programs = Programs(settings.sandbox.places)
    try:
        await _prepare(settings, home, store)
        await take_stock(settings, home, programs)
        own = all_ops(settings, home, programs).ops
        remote, links = mcp_ops(settings.mcp, home, own)
        ops = registry((*own.values(), *remote))
        check_discovery(ops, home.ops)
        book = await _grant_book(settings, store, ops)
        services = _services(
            Parts(settings=settings, home=home, store=store, programs=programs, ops=ops, book=book)
        )
        try:
            async with background(services, home):
                yield services
        finally:
            await _end(services)
            await asyncio.gather(*(link.close() for link in links))
    finally:
        await programs.close()
        await store.close()
