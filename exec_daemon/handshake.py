"""The TLS handshake of a connection that was accepted, by OpenSSL on the socket itself.

So a handshake that is refused tells its client why: OpenSSL sends the alert (RFC 8446 6.2) before it fails.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable
from typing import Any


async def secured(connection: socket.socket, context: ssl.SSLContext, within_s: float) -> ssl.SSLSocket:
    """The connection, now over TLS. Raises OSError where that does not come about; then it is closed."""
    try:
        made = context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
    except BaseException:
        connection.close()
        raise
    try:
        async with asyncio.timeout(within_s):
            await _shake_hands(made)
    except BaseException:
        made.close()
        raise
    return made


async def _shake_hands(connection: ssl.SSLSocket) -> None:
    loop = asyncio.get_running_loop()
    while True:
        try:
            connection.do_handshake()
        except ssl.SSLWantReadError:
            await _ready(loop.add_reader, loop.remove_reader, connection)
        except ssl.SSLWantWriteError:
            await _ready(loop.add_writer, loop.remove_writer, connection)
        else:
            return


async def _ready(add: Callable[..., Any], remove: Callable[..., Any], connection: socket.socket) -> None:
    ready = asyncio.get_running_loop().create_future()
    add(connection, _tell, ready)
    try:
        await ready
    finally:
        remove(connection)


def _tell(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)
