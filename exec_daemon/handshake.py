"""The TLS handshake of a connection that was accepted.

A handshake that is refused tells its client why, by the alert that OpenSSL has ready (RFC 8446 6.2). There is
room for it in the socket: nothing was sent but the server's part of the handshake.
"""

from __future__ import annotations

import asyncio
import ssl
from contextlib import suppress
from dataclasses import dataclass
from socket import socket
from typing import Final

_READ_BYTES: Final = 16 * 1024


@dataclass(frozen=True, slots=True)
class Secured:
    """A connection over TLS. OpenSSL reads from `incoming`, and leaves what to send in `outgoing`."""

    connection: socket
    tls: ssl.SSLObject
    incoming: ssl.MemoryBIO
    outgoing: ssl.MemoryBIO


async def secured(connection: socket, context: ssl.SSLContext, within_s: float) -> Secured:
    """The connection, now over TLS. Raises OSError where that does not come about; then it is closed."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    made = Secured(connection, context.wrap_bio(incoming, outgoing, server_side=True), incoming, outgoing)
    try:
        async with asyncio.timeout(within_s):
            await _shake_hands(made)
    except BaseException:
        connection.close()
        raise
    return made


async def _shake_hands(made: Secured) -> None:
    loop = asyncio.get_running_loop()
    while True:
        try:
            made.tls.do_handshake()
        except ssl.SSLWantReadError:
            ready = False
        except ssl.SSLError:
            with suppress(OSError):
                made.connection.send(made.outgoing.read())
            raise
        else:
            ready = True
        if made.outgoing.pending:
            await loop.sock_sendall(made.connection, made.outgoing.read())
        if ready:
            return
        received = await loop.sock_recv(made.connection, _READ_BYTES)
        if not received:
            raise ConnectionResetError("the connection ended within its handshake")
        made.incoming.write(received)
