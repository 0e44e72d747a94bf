"""Everything behind the listener, put together, opened and closed in order."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from io import BytesIO
from typing import Any, Final

from exec_daemon.access.callback_secret import callback_secret
from exec_daemon.access.grant_book import GrantBook
from exec_daemon.access.rates import Buckets
from exec_daemon.access.stack import Grants
from exec_daemon.access.tokens import ensure_bootstrap
from exec_daemon.approvals.asking import Asking
from exec_daemon.approvals.deciding import Deciding
from exec_daemon.artifacts import Artifacts
from exec_daemon.box import BoxContext, Scope
from exec_daemon.box_reads import BoxReads
from exec_daemon.calls.chain import Chain
from exec_daemon.calls.execute import Executor
from exec_daemon.calls.grant_check import check_grants
from exec_daemon.calls.registry import Registry, registry
from exec_daemon.certificates.authority import Authority
from exec_daemon.certificates.trust import Keeper, files_of
from exec_daemon.discovery import check_discovery
from exec_daemon.errors import DaemonError
from exec_daemon.home import Home
from exec_daemon.listen import is_loopback
from exec_daemon.mcp.door import Door as McpDoor
from exec_daemon.mcp_servers.at_start import mcp_ops
from exec_daemon.metrics import Metrics
from exec_daemon.places import Places
from exec_daemon.programs import Programs
from exec_daemon.programs_at_start import all_ops, other_box_ctl, take_stock
from exec_daemon.pruning import keep_pruning
from exec_daemon.rpc.child import ChildAgents
from exec_daemon.rpc.desk import Desk
from exec_daemon.services import Services
from exec_daemon.settings import DaemonSettings
from exec_daemon.store import Store, StoreError, open_store, random_id, utc_now
from exec_daemon.store_facts import FactsFromStore
from exec_daemon.timing import timer_desk, timers_run
from exec_daemon.tls import ensure_certificates
from exec_daemon.version import version
from exec_daemon.web.sessions import Sessions
from messaging import ArtifactError, secret_values

log = logging.getLogger(__name__)

# The daemon's certificate is made anew a month before it ends.
_RENEW_EVERY_S: Final = 12 * 3600.0
# `last used` of a token may be so stale: written with each request, it would make every read a write.
_TOUCH_EVERY_S: Final = 5.0


def _artifacts(settings: DaemonSettings, home: Home) -> Artifacts:
    folders = (home.outbox, *settings.artifact_folders)
    limits = settings.limits
    artifacts = Artifacts(
        home.artifacts, folders, most_bytes=limits.max_artifact_bytes, room_bytes=limits.artifacts_room_bytes
    )
    artifacts.sweep()
    return artifacts


def _keep_reading(artifacts: Artifacts, content: bytes) -> dict[str, Any] | None:
    try:
        return artifacts.keep(BytesIO(content), "application/json").to_json()
    except ArtifactError as lost:
        log.warning("the whole of a reading that was cut could not be kept: %s", lost)
        return None


def _box_reads(
    settings: DaemonSettings, home: Home, store: Store, artifacts: Artifacts, programs: Programs
) -> BoxReads:
    facts = FactsFromStore(store, asyncio.get_running_loop())
    other = other_box_ctl(settings, home, programs)

    def context(scope: Scope) -> BoxContext:
        return BoxContext(
            facts=facts,
            scope=scope,
            repos=settings.repos,
            log_dir=home.root,
            secrets=secret_values(os.environ),
            daemon_file=home.address,
            program=other,
            keep=partial(_keep_reading, artifacts),
        )

    return BoxReads(context, settings.limits.box_time_limit_s)


def _desk(settings: DaemonSettings, store: Store, buckets: Buckets, grants: Grants) -> Desk:
    """Agents get the daemon's environment without our own variables, which may hold a token."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("BOX_")}
    return Desk(
        store=store,
        agents=ChildAgents(environment=environment),
        templates=settings.agents,
        buckets=buckets,
        grants=grants,
        clock=utc_now,
        new_id=random_id,
        chain=_chain(settings, store),
    )


def _chain(settings: DaemonSettings, store: Store) -> Chain | None:
    policy = settings.policy.chain
    return Chain(store, policy) if policy.active else None


async def _grant_book(settings: DaemonSettings, store: Store, ops: Registry) -> GrantBook:
    """The grants of `box.toml` and of the store. Raises `DaemonError` for a rule that names no op."""
    check_grants(settings.policy, ops)
    book = GrantBook(
        store, Grants(settings.policy.grants, settings.limits.rates, settings.policy.approvals.ops)
    )
    await book.load()
    return book


def _services(
    settings: DaemonSettings, home: Home, store: Store, ops: Registry, book: GrantBook, programs: Programs
) -> Services:
    artifacts = _artifacts(settings, home)
    box = _box_reads(settings, home, store, artifacts, programs)
    buckets = Buckets(time.monotonic)
    stopping = asyncio.Event()
    executor = Executor(
        registry=ops,
        store=store,
        buckets=buckets,
        limits=settings.limits,
        box=box,
        keep=artifacts,
        new_id=random_id,
        grants=book.grants,
        chain=_chain(settings, store),
        asking=Asking(
            store=store,
            registry=ops,
            clock=utc_now,
            new_id=random_id,
            expire_s=settings.policy.approvals.expire_s,
        ),
    )
    return Services(
        settings=settings,
        store=store,
        registry=ops,
        executor=executor,
        deciding=Deciding(store=store, registry=ops, executor=executor, clock=utc_now),
        grants=book,
        buckets=buckets,
        artifacts=artifacts,
        clock=utc_now,
        new_id=random_id,
        stopping=stopping,
        callback_secret=callback_secret(home),
        places=Places(settings.limits.most_open, settings.limits.most_streams),
        trust=Keeper(files_of(home, settings.certificate, settings.certificate_key)),
        desk=_desk(settings, store, buckets, book.grants),
        timers=timer_desk(store, ops, book.grants),
        metrics=Metrics(frozenset(ops.ops)),
        sessions=Sessions(store, utc_now, time.monotonic),
        mcp=McpDoor(executor, store, ops, version(), stopping),
    )


async def _write_token_uses(services: Services) -> None:
    uses = dict(services.token_uses)
    services.token_uses.clear()
    if uses:
        with contextlib.suppress(StoreError):  # the time of last use is worth no failure
            await services.store.touch_tokens(uses)


async def _keep_writing_token_uses(services: Services) -> None:
    while True:
        await asyncio.sleep(_TOUCH_EVERY_S)
        await _write_token_uses(services)


def _ensure_certificates(settings: DaemonSettings, home: Home) -> None:
    beyond = () if is_loopback(settings.host) else (settings.host,)
    ensure_certificates(home, (*settings.names, *beyond))


async def _keep_renewing(settings: DaemonSettings, home: Home) -> None:
    """The daemon's own certificate, in time; that the file has changed is seen like any other change."""
    while True:
        await asyncio.sleep(_RENEW_EVERY_S)
        try:
            await asyncio.to_thread(_ensure_certificates, settings, home)
        except DaemonError as failed:
            log.warning("the daemon's certificate could not be renewed: %s", failed)


async def _prepare(settings: DaemonSettings, home: Home, store: Store) -> None:
    """What each start does before anybody is served."""
    _ensure_certificates(settings, home)
    Authority(home).ensure_crl()
    await ensure_bootstrap(store, home, clock=utc_now, new_id=random_id)
    for job in await store.interrupt_running():
        log.warning("job %s (%s) was interrupted by the last stop", job.id, job.op)


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
        remote, links = mcp_ops(settings.mcp, home)
        ops = registry((*all_ops(settings, home, programs).ops.values(), *remote))
        check_discovery(ops, home.ops)
        book = await _grant_book(settings, store, ops)
        services = _services(settings, home, store, ops, book, programs)
        writer = asyncio.create_task(_keep_writing_token_uses(services))
        pruning = asyncio.create_task(keep_pruning(store, settings.retention))
        looking = asyncio.create_task(services.deciding.keep_looking())
        renewing = asyncio.create_task(_keep_renewing(settings, home))
        watching = asyncio.create_task(services.trust.watch())
        hanging_up = asyncio.create_task(services.desk.connections.hang_up(services.stopping))
        try:
            async with timers_run(services.timers):
                yield services
        finally:
            writer.cancel()
            pruning.cancel()
            hanging_up.cancel()
            looking.cancel()
            services.stopping.set()
            await services.mcp.ended()
            await asyncio.gather(*(link.close() for link in links))
            watching.cancel()
            renewing.cancel()
            await services.desk.close()
            await services.executor.jobs.drain(settings.limits.drain_s)
            await services.deciding.close()
            await _write_token_uses(services)
    finally:
        await programs.close()
        await store.close()
