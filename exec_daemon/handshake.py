"""A handshake that is refused tells its client why, by the alert that OpenSSL has ready (RFC 8446 6.2).

asyncio closes a connection whose handshake failed before it sends what OpenSSL still has to say, so that a
client with a revoked certificate would meet nothing but a connection that ends. Here the alert goes into the
socket first. There is room for it: nothing was sent but the server's part of the handshake.
"""

from __future__ import annotations

import ssl
from contextlib import suppress
from contextvars import ContextVar
from socket import socket
from typing import Any, Final

# The socket that the running task, and all that asyncio calls for it, has to do with.
CONNECTION: Final[ContextVar[socket | None]] = ContextVar("inband.connection", default=None)


class _Handshake(ssl.SSLObject):
    outgoing: ssl.MemoryBIO
    connection: socket | None

    def do_handshake(self) -> None:
        try:
            super().do_handshake()
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            raise
        except ssl.SSLError:
            with suppress(OSError):
                if self.connection is not None:
                    self.connection.send(self.outgoing.read())
            raise


class TellingContext(ssl.SSLContext):
    """As any other, for `Door`, which names the connection in `CONNECTION`."""

    sslobject_class = _Handshake

    def wrap_bio(self, incoming: ssl.MemoryBIO, outgoing: ssl.MemoryBIO, *more: Any, **keys: Any) -> Any:
        made = super().wrap_bio(incoming, outgoing, *more, **keys)
        assert isinstance(made, _Handshake)
        made.outgoing, made.connection = outgoing, CONNECTION.get()
        return made
