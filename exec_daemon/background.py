"""What a daemon does beside answering, for as long as it serves: each a task that ends with it."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from exec_daemon.errors import DaemonError
from exec_daemon.home import Home
from exec_daemon.listen import is_loopback
from exec_daemon.pruning import keep_pruning
from exec_daemon.services import Services
from exec_daemon.settings import DaemonSettings
from exec_daemon.store import StoreError
from exec_daemon.timing import timers_run
from exec_daemon.tls import ensure_certificates

log = logging.getLogger(__name__)

# The daemon's certificate is made anew a month before it ends.
_RENEW_EVERY_S: Final = 12 * 3600.0
# `last used` of a token may be so stale: written with each request, it would make every read a write.
_TOUCH_EVERY_S: Final = 5.0


@asynccontextmanager
async def background(services: Services, home: Home) -> AsyncIterator[None]:
    """Runs all of it while the context lasts."""
    work = (
        _keep_writing_token_uses(services),
        keep_pruning(services.store, services.settings.retention),
        services.deciding.keep_looking(),
        _keep_renewing(services.settings, home),
        services.trust.watch(),
        services.desk.connections.hang_up(services.stopping),
    )
    tasks = [asyncio.create_task(each) for each in work]
    try:
        async with timers_run(services.timers):
            yield
    finally:
        for task in tasks:
            task.cancel()


def ensure_own_certificate(settings: DaemonSettings, home: Home) -> None:
    """The certificate of this daemon for all names that it is called by. Raises `DaemonError`."""
    beyond = () if is_loopback(settings.host) else (settings.host,)
    ensure_certificates(home, (*settings.names, *beyond))


async def write_token_uses(services: Services) -> None:
    """When each token was last used, to the store."""
    uses = dict(services.token_uses)
    services.token_uses.clear()
    if uses:
        with contextlib.suppress(StoreError):  # the time of last use is worth no failure
            await services.store.touch_tokens(uses)


async def _keep_writing_token_uses(services: Services) -> None:
    while True:
        await asyncio.sleep(_TOUCH_EVERY_S)
        await write_token_uses(services)


async def _keep_renewing(settings: DaemonSettings, home: Home) -> None:
    """The daemon's own certificate, in time; that the file has changed is seen like any other change."""
    while True:
        await asyncio.sleep(_RENEW_EVERY_S)
        try:
            await asyncio.to_thread(ensure_own_certificate, settings, home)
        except DaemonError as failed:
            log.warning("the daemon's certificate could not be renewed: %s", failed)
