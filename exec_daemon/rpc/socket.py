"""`rpc.sock` in the state directory: for who runs as the daemon's own user, and nobody else (J-30).

The kernel says who is at the other end (SO_PEERCRED, unix(7)). Whoever that is could read the operator's
token too, so here it is the operator.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Final

from exec_daemon.access.identity import Identity, Role
from exec_daemon.access.tokens import Asker
from exec_daemon.errors import AddressRefused
from exec_daemon.rpc.converse import Client, converse
from exec_daemon.rpc.desk import Desk
from messaging.ipc.socket_address import short_address
from messaging.rpc import RpcCode, encode, failure, rpc_error

_OPERATOR: Final = Asker(Identity(Role.OPERATOR, "local"))
_CHUNK_BYTES: Final = 1 << 16
_BACKLOG: Final = 128
# struct ucred: pid, uid, gid.
_CREDENTIALS: Final = struct.Struct("3i")


def _bound(path: Path) -> socket.socket:
    """Of two daemons only one has the store, so what lies there is a leftover."""
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with short_address(path) as address:
            listener.bind(address)
        path.chmod(0o600)
        listener.listen(_BACKLOG)
    except OSError as failed:
        listener.close()
        raise AddressRefused(f"cannot listen at {path}: {failed.strerror}.", str(path)) from None
    return listener


def _remove(path: Path) -> None:
    path.unlink(missing_ok=True)


def _peer_uid(writer: asyncio.StreamWriter) -> int:
    peer = writer.get_extra_info("socket")
    credentials = peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    return int(_CREDENTIALS.unpack(credentials)[1])


async def _chunks(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    while chunk := await reader.read(_CHUNK_BYTES):
        yield chunk


@asynccontextmanager
async def rpc_socket(
    desk: Desk, path: Path, *, keep_alive_s: float, uid: int | None = None
) -> AsyncIterator[None]:
    """Listens while the block lasts, for the user `uid`, our own by default. Raises `AddressRefused`."""
    allowed = os.getuid() if uid is None else uid

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            if _peer_uid(writer) != allowed:
                text = f"Only the user that runs the daemon, uid {allowed}, may use this socket."
                writer.write(encode(failure(None, rpc_error(RpcCode.UNAUTHENTICATED, text))))
            else:
                lines = converse(desk, Client(asker=_OPERATOR), _chunks(reader), keep_alive_s=keep_alive_s)
                async with aclosing(lines):
                    async for line in lines:
                        writer.write(line)
                        await writer.drain()
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()

    server = await asyncio.start_unix_server(connected, sock=_bound(path))
    async with server:
        yield
    _remove(path)
