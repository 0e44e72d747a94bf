"""The daemon as a process: state directory, certificates, store, TLS listener, graceful stop."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import json
import logging
import os
import signal
import socket
import ssl
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Final

import uvicorn

from exec_daemon.app import build
from exec_daemon.box import BoxContext, Scope
from exec_daemon.box_reads import BoxReads
from exec_daemon.errors import AddressRefused, PortTaken
from exec_daemon.execute import Executor
from exec_daemon.home import Home, prepare, write_private
from exec_daemon.logs import logging_to
from exec_daemon.ops import ALLOWLIST
from exec_daemon.protocol import Protocol
from exec_daemon.rates import Buckets
from exec_daemon.registry import registry
from exec_daemon.services import Services
from exec_daemon.settings import DaemonSettings
from exec_daemon.store import Store, open_store, random_id, utc_now
from exec_daemon.store_facts import FactsFromStore
from exec_daemon.tls import ensure_certificates
from exec_daemon.tokens import ensure_bootstrap
from messaging import secret_values

log = logging.getLogger(__name__)

# `last used` of a token may be so stale; writing it with each request would make every read a write.
_TOUCH_EVERY_S: Final = 5.0
_BACKLOG: Final = 512


def is_loopback(host: str) -> bool:
    """Does the address stay on this machine?"""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def bind(settings: DaemonSettings) -> socket.socket:
    """The listening socket; raises `PortTaken` or `AddressRefused`."""
    host, port = settings.host, settings.port
    if not is_loopback(host) and not settings.allow_remote:
        text = (
            f"{host} can be reached from other machines. Set daemon.allow_remote to listen there on purpose."
        )
        raise AddressRefused(text, host)
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
    except OSError as failed:
        raise AddressRefused(f"cannot listen on {host}: {failed.strerror}.", host) from None
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(_BACKLOG)
    except OSError as failed:
        listener.close()
        raise _cannot_bind(settings, failed) from None
    return listener


def _cannot_bind(settings: DaemonSettings, failed: OSError) -> PortTaken | AddressRefused:
    if isinstance(failed, PermissionError):
        text = f"port {settings.port} needs more rights than this user has. Choose one from 1024 up."
        return AddressRefused(text, str(settings.port))
    text = (
        f"cannot listen on {settings.host}, port {settings.port}: {failed.strerror}. Another daemon may run "
        "already (`box doctor` says); or choose another port with --port, 0 for any free one."
    )
    return PortTaken(text, str(settings.port))


def url_of(listener: socket.socket) -> str:
    """The address that clients use."""
    host, port = listener.getsockname()[:2]
    return f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"


def tls_context(home: Home) -> ssl.SSLContext:
    """TLS 1.2 and newer. No session tickets: a client proves itself with each connection."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.num_tickets = 0
    context.options |= ssl.OP_NO_TICKET | ssl.OP_NO_RENEGOTIATION
    context.load_cert_chain(home.server_cert, home.server_key)
    return context


class _Server(uvicorn.Server):
    """uvicorn's server that says when it listens, and tells streams before it waits for them."""

    def __init__(
        self, config: uvicorn.Config, listening: Callable[[], None], stopping: asyncio.Event
    ) -> None:
        super().__init__(config)
        self._listening = listening
        self._stopping = stopping

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._listening()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._stopping.set()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """TERM and INT stop us gracefully and end there: uvicorn would raise them again afterwards."""
        loop = asyncio.get_running_loop()
        with contextlib.suppress(ValueError, RuntimeError):  # not in the main thread: somebody else's signals
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.add_signal_handler(number, self.handle_exit, number, None)
        yield


def _services(settings: DaemonSettings, store: Store, box: BoxReads) -> Services:
    ops, buckets = registry(ALLOWLIST), Buckets(time.monotonic)
    executor = Executor(
        registry=ops, store=store, buckets=buckets, limits=settings.limits, box=box, new_id=random_id
    )
    return Services(
        settings=settings,
        store=store,
        registry=ops,
        executor=executor,
        buckets=buckets,
        clock=utc_now,
        new_id=random_id,
        stopping=asyncio.Event(),
    )


def _box_reads(settings: DaemonSettings, home: Home, store: Store) -> BoxReads:
    facts = FactsFromStore(store, asyncio.get_running_loop())

    def context(scope: Scope) -> BoxContext:
        return BoxContext(
            facts=facts,
            scope=scope,
            repos=settings.repos,
            log_dir=home.root,
            secrets=secret_values(os.environ),
            program=settings.box_ctl,
        )

    return BoxReads(context, settings.limits.box_time_limit_s)


async def _touch_tokens(services: Services) -> None:
    """Writes down from time to time which tokens were used."""
    while True:
        await asyncio.sleep(_TOUCH_EVERY_S)
        await _flush_token_uses(services)


async def _flush_token_uses(services: Services) -> None:
    uses = dict(services.token_uses)
    services.token_uses.clear()
    if uses:
        with contextlib.suppress(Exception):  # the time of last use is worth no failure
            await services.store.touch_tokens(uses)


@asynccontextmanager
async def _running(settings: DaemonSettings, home: Home) -> AsyncIterator[Services]:
    """Everything behind the listener, opened and closed in order."""
    store = await open_store(home.database)  # first: it is what only one daemon can have
    box = _box_reads(settings, home, store)
    services = _services(settings, store, box)
    try:
        ensure_certificates(home, None if is_loopback(settings.host) else settings.host)
        for job in await store.interrupt_running():
            log.warning("job %s (%s) was interrupted by the last stop", job.id, job.op)
        await ensure_bootstrap(store, home, clock=utc_now, new_id=random_id)
        toucher = asyncio.create_task(_touch_tokens(services))
        try:
            yield services
        finally:
            toucher.cancel()
            await services.executor.drain(settings.limits.drain_s)
            await _flush_token_uses(services)
    finally:
        box.close()
        await store.close()


def _config(settings: DaemonSettings, services: Services, home: Home) -> uvicorn.Config:
    return uvicorn.Config(
        build(services),
        http=Protocol,
        ws="none",
        lifespan="off",
        loop="asyncio",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        ssl_context_factory=lambda *_: tls_context(home),
        timeout_graceful_shutdown=max(1, round(settings.limits.drain_s)),
    )


class Daemon:
    """One daemon over one state directory. `url` is set once it listens."""

    def __init__(self, settings: DaemonSettings) -> None:
        self._settings = settings
        self._server: _Server | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self.url = ""

    async def serve(self, on_listening: Callable[[str], None] = lambda _: None) -> None:
        """Runs until TERM, INT or `stop`. Raises `DaemonError` or `StoreError` when it cannot start."""
        settings = self._settings
        home = prepare(settings.home)
        listener = bind(settings)
        with listener, logging_to(home.log, stderr=settings.log_to_stderr):
            async with _running(settings, home) as services:
                self.url = url_of(listener)
                self._loop = asyncio.get_running_loop()

                def listening() -> None:
                    self._announce(home)
                    on_listening(self.url)

                self._server = _Server(_config(settings, services, home), listening, services.stopping)
                try:
                    await self._server.serve(sockets=[listener])
                finally:
                    self._withdraw(home)

    def stop(self) -> None:
        """Asks it to stop, from any thread."""
        server, loop = self._server, self._loop
        if server is not None and loop is not None:
            loop.call_soon_threadsafe(server.handle_exit, signal.SIGTERM, None)

    def _announce(self, home: Home) -> None:
        content = {"pid": os.getpid(), "url": self.url, "started_at": utc_now()}
        write_private(home.address, json.dumps(content).encode() + b"\n")
        log.info("listening at %s", self.url)

    @staticmethod
    def _withdraw(home: Home) -> None:
        home.address.unlink(missing_ok=True)
        log.info("stopped")


def serve(settings: DaemonSettings) -> None:
    """Runs a daemon until TERM or INT. Raises `DaemonError` or `StoreError` when it cannot start."""
    asyncio.run(Daemon(settings).serve())
