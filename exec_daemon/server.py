"""The daemon as a process: it listens, says where, and stops gracefully on TERM and INT."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, AbstractContextManager, contextmanager
from functools import partial
from typing import Any, Final

import uvicorn

from exec_daemon.api.app import build
from exec_daemon.compose import services_of
from exec_daemon.home import Home, prepare, write_private
from exec_daemon.listen import bind, tls_context, url_of
from exec_daemon.logs import logging_to
from exec_daemon.protocol import limited
from exec_daemon.rpc.socket import rpc_socket
from exec_daemon.services import Services
from exec_daemon.settings import DaemonSettings
from exec_daemon.store import utc_now

log = logging.getLogger(__name__)

# Longer than clients keep an idle connection, so that it is they who close it: a request that crosses our
# closing would be lost.
_IDLE_S: Final = 75


def _rpc(services: Services, home: Home) -> AbstractAsyncContextManager[None]:
    return rpc_socket(services.desk, home.rpc_socket, keep_alive_s=services.settings.limits.keep_alive_s)


class _Loop(asyncio.SelectorEventLoop):
    """Ends connections that come to no TLS handshake; uvicorn sets no limit, and asyncio's is a minute."""

    def __init__(self, handshake_s: float) -> None:
        super().__init__()
        self._handshake_s = handshake_s

    async def create_server(self, *args: Any, **more: Any) -> Any:
        return await super().create_server(*args, ssl_handshake_timeout=self._handshake_s, **more)


class _Server(uvicorn.Server):
    """uvicorn's server that says when it listens, and tells streams before it waits for them."""

    def __init__(
        self, config: uvicorn.Config, on_listening: Callable[[], None], stopping: asyncio.Event
    ) -> None:
        super().__init__(config)
        self._on_listening = on_listening
        self._stopping = stopping

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._on_listening()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._stopping.set()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """TERM and INT stop us gracefully and end there: uvicorn would raise them again afterwards."""
        loop = asyncio.get_running_loop()
        with contextlib.suppress(ValueError, RuntimeError):  # outside the main thread signals are others'
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.add_signal_handler(number, self.handle_exit, number, None)
        yield


def _config(settings: DaemonSettings, services: Services, home: Home) -> uvicorn.Config:
    return uvicorn.Config(
        build(services),
        http=limited(settings.limits.wire),
        ws="none",
        lifespan="off",
        loop="asyncio",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=_IDLE_S,
        timeout_graceful_shutdown=max(1, round(settings.limits.drain_s)),
        ssl_context_factory=lambda *_: tls_context(home),
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

            def listening() -> None:
                self._announce(home)
                on_listening(self.url)

            async with services_of(settings, home) as services, _rpc(services, home):
                self._server = _Server(_config(settings, services, home), listening, services.stopping)
                try:
                    await self._server.serve(sockets=[listener])
                finally:
                    home.address.unlink(missing_ok=True)
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


def serve(settings: DaemonSettings) -> None:
    """Runs a daemon until TERM or INT. Raises `DaemonError` or `StoreError` when it cannot start."""
    with asyncio.Runner(loop_factory=partial(_Loop, settings.limits.wire.handshake_s)) as runner:
        runner.run(Daemon(settings).serve())
