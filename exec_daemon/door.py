"""A listening socket: it accepts connections, and only so many at once may be without their TLS handshake.

asyncio's own server knows no such limit and keeps one TLS context for good; this one asks for the context
with each connection, so that new certificates count from the next one on. It has the two methods that
uvicorn asks of its servers.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
from collections.abc import Callable
from functools import partial
from typing import Final

from exec_daemon.handshake import secured
from exec_daemon.settings import WireLimits
from exec_daemon.tls_transport import TlsTransport

log = logging.getLogger(__name__)

# After no file was left for a connection: the kernel keeps it waiting, and others may end meanwhile.
_BREATH_S: Final = 0.1


class Door:
    """Connections of `listener` become protocols; without `tls` as they are, for a unix socket."""

    def __init__(
        self,
        listener: socket.socket,
        make_protocol: Callable[[], asyncio.Protocol],
        limits: WireLimits,
        tls: Callable[[], ssl.SSLContext] | None = None,
    ) -> None:
        self._listener = listener
        self._make_protocol = make_protocol
        self._limits = limits
        self._tls = tls
        self._accepting: asyncio.Task[None] | None = None
        self._arriving: dict[asyncio.Task[None], None] = {}
        self._unheard: set[socket.socket] = set()

    def open(self) -> None:
        """Begins to accept."""
        self._listener.settimeout(0)
        self._accepting = asyncio.get_running_loop().create_task(self._accept())

    def close(self) -> None:
        """Accepts no more; who is in the middle of a handshake is left outside."""
        if self._accepting is not None:
            self._accepting.cancel()
        asyncio.get_running_loop().remove_reader(self._listener.fileno())
        for arriving in list(self._arriving):
            arriving.cancel()

    async def wait_closed(self) -> None:
        """Waits for what `close` has cancelled."""
        tasks = [*self._arriving, *([self._accepting] if self._accepting else [])]
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _accept(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                connection, _ = await loop.sock_accept(self._listener)
            except OSError as failed:
                log.warning("a connection could not be accepted: %s", failed.strerror)
                await asyncio.sleep(_BREATH_S)
                continue
            self._make_room()
            arriving = loop.create_task(self._welcome(connection))
            self._arriving[arriving] = None
            self._unheard.add(connection)
            arriving.add_done_callback(partial(self._arrived, connection))
            await asyncio.sleep(0)  # many that come at once do not keep the others waiting

    def _make_room(self) -> None:
        """The one that has waited longest goes: an honest handshake takes milliseconds."""
        if len(self._arriving) >= self._limits.most_handshakes:
            oldest = next(iter(self._arriving))
            del self._arriving[oldest]
            oldest.cancel()

    def _arrived(self, connection: socket.socket, task: asyncio.Task[None]) -> None:
        self._arriving.pop(task, None)
        if connection in self._unheard:  # cancelled before its task began
            self._unheard.discard(connection)
            connection.close()

    async def _welcome(self, connection: socket.socket) -> None:
        self._unheard.discard(connection)
        loop = asyncio.get_running_loop()
        try:
            if self._tls is None:
                await loop.connect_accepted_socket(self._make_protocol, connection)
            else:
                over_tls = await secured(connection, self._tls(), self._limits.handshake_s)
                TlsTransport(loop, over_tls, self._make_protocol())
        except OSError as failed:  # no handshake came about: a stranger, a scanner, a revoked certificate
            log.debug("no handshake: %s", failed)
