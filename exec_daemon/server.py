"""The daemon as a process: it listens, says where, and stops gracefully on TERM and INT."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import logging
import os
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager, contextmanager
from datetime import UTC, datetime
from typing import Final, cast

import uvicorn

from exec_daemon.api.app import App
from exec_daemon.certificates.trust import Trust
from exec_daemon.compose import services_of
from exec_daemon.door import Door
from exec_daemon.home import Home, prepare, write_private
from exec_daemon.listen import bind, bind_unix, url_of
from exec_daemon.logs import logging_to
from exec_daemon.protocol import Protocol, limited
from exec_daemon.rpc.socket import rpc_socket
from exec_daemon.services import Services
from exec_daemon.settings import DaemonSettings
from exec_daemon.store import utc_now

log = logging.getLogger(__name__)

# The event loop lets go of the interpreter with each system call. What writes journal and log behind it may
# then keep it for so long: 5 ms where one says nothing, which is more than ten calls take.
_SWITCH_S: Final = 0.0005

# A request leaves hardly anything in circles; 700, where one says nothing, is every few calls.
_ALLOCATIONS: Final = 20_000


def _rpc(services: Services, home: Home) -> AbstractAsyncContextManager[None]:
    return rpc_socket(services.desk, home.rpc_socket, keep_alive_s=services.settings.limits.keep_alive_s)


class _Server(uvicorn.Server):
    """uvicorn's server behind doors of ours; it says when it listens, and tells streams before it waits."""

    def __init__(
        self,
        config: uvicorn.Config,
        services: Services,
        local: socket.socket,
        on_listening: Callable[[], None],
    ) -> None:
        super().__init__(config)
        self._services = services
        self._local = local
        self._on_listening = on_listening

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """As uvicorn's, which would have asyncio accept. Its own shutdown closes these doors."""
        await self.lifespan.startup()
        limits, trust = self._services.settings.limits.wire, self._services.trust
        doors = [Door(listener, self._protocol, limits, trust.context) for listener in sockets or ()]
        doors.append(Door(self._local, self._protocol, limits))
        self.servers = cast("list[asyncio.base_events.Server]", doors)
        for door in doors:
            door.open()
        trust.on_change = self._trust_changed
        self.started = True
        self._on_listening()

    def _protocol(self) -> asyncio.Protocol:
        made: asyncio.Protocol = self.config.http_protocol_class(  # type: ignore[call-arg]
            config=self.config, server_state=self.server_state, app_state=self.lifespan.state
        )
        return made

    def _trust_changed(self, trust: Trust) -> None:
        """Who is no longer believed is not heard any longer."""
        now = datetime.now(UTC)
        for connection in list(self.server_state.connections):
            if isinstance(connection, Protocol):
                connection.drop_unless(trust, now)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._services.stopping.set()
        await super().shutdown(sockets)
        for connection in list(self.server_state.connections):  # of who reads nothing, and was waited for
            if isinstance(connection, Protocol):
                connection.drop()
        await asyncio.sleep(0)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """TERM and INT stop us gracefully and end there: uvicorn would raise them again. HUP reads again."""
        loop = asyncio.get_running_loop()
        with contextlib.suppress(ValueError, RuntimeError):  # outside the main thread signals are others'
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.add_signal_handler(number, self.handle_exit, number, None)
            loop.add_signal_handler(signal.SIGHUP, self._services.trust.reload)
        yield


def _config(settings: DaemonSettings, services: Services) -> uvicorn.Config:
    return uvicorn.Config(
        App(services),
        http=limited(settings.limits.wire),
        ws="none",
        lifespan="off",
        loop="asyncio",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=round(settings.limits.wire.idle_s),
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
        """Runs until TERM, INT or `stop`; calls `on_listening` with the url.

        Raises `DaemonError` or `StoreError` when it cannot start.
        """
        settings = self._settings
        home = prepare(settings.home)
        self._loop = asyncio.get_running_loop()
        with bind(settings) as listener, self._logging(home):
            self.url = url_of(listener)
            _warn_of_known_hashes()

            def listening() -> None:
                self._announce(home)
                on_listening(self.url)

            async with services_of(settings, home) as services, _rpc(services, home):
                local_path = settings.unix.path or home.socket
                local = bind_unix(local_path, settings.unix.group)
                self._server = _Server(_config(settings, services), services, local, listening)
                try:
                    await self._server.serve(sockets=[listener])
                finally:
                    home.address.unlink(missing_ok=True)
                    local_path.unlink(missing_ok=True)
                    local.close()
            log.info("stopped")

    def _logging(self, home: Home) -> AbstractContextManager[None]:
        settings = self._settings
        return logging_to(home.log, stderr=settings.log_to_stderr, form=settings.log_format)

    def stop(self) -> None:
        """Asks it to stop, from any thread."""
        server, loop = self._server, self._loop
        if server is not None and loop is not None:
            loop.call_soon_threadsafe(server.handle_exit, signal.SIGTERM, None)

    def _announce(self, home: Home) -> None:
        content = {"pid": os.getpid(), "url": self.url, "started_at": utc_now()}
        write_private(home.address, json.dumps(content).encode() + b"\n")
        log.info("listening at %s", self.url)


def _warn_of_known_hashes() -> None:
    """Keys of a body that all fall into one place of a table make it slow, for who knows the hashes."""
    seed = os.environ.get("PYTHONHASHSEED", "")
    if seed not in ("", "random") and not sys.flags.ignore_environment:
        log.warning("PYTHONHASHSEED=%s makes the hashes of this process known to others; unset it", seed)


def _settle(_: str) -> None:
    """What the start has made stays: it is not looked through again for what may go."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_ALLOCATIONS)


def serve(settings: DaemonSettings) -> None:
    """Runs a daemon until TERM or INT. Raises `DaemonError` or `StoreError` when it cannot start."""
    sys.setswitchinterval(_SWITCH_S)
    asyncio.run(Daemon(settings).serve(_settle))
