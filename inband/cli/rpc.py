"""`box rpc`: standard input and output are one connection of the RPC."""

from __future__ import annotations

import os
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import click

from exec_daemon.home import Home
from inband.cli.shared import settings_of
from inband.errors import Exit, InputError, NotStartedError
from messaging.ipc.socket_address import short_address

_CHUNK_BYTES: Final = 1 << 16


@click.command(short_help="Talk JSON Lines with the daemon.")
@click.pass_context
def rpc(ctx: click.Context, /) -> int:
    """Talk JSON Lines with the daemon of this state directory, as its operator.

    Requests go in on stdin; answers and events come out on stdout, a line each. When stdin ends, what was
    asked is answered, and the command ends. Ends with 4 when the daemon goes away.

    \b
    Example:
      echo '{"id":"1","type":"runtime_get_state","payload":{}}' | box rpc
    """
    settings = settings_of(ctx)
    if settings["client.url"]:
        raise InputError(
            "box rpc talks to the daemon of this machine; another one has POST /rpc (docs/api.md)"
        )
    with _connected(Home(settings.home).rpc_socket) as connection:
        said_all = threading.Event()
        threading.Thread(target=_send, args=(connection, said_all), daemon=True).start()
        _receive(connection)
        return Exit.OK if said_all.is_set() else Exit.UNREACHABLE


@contextmanager
def _connected(path: Path) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            with short_address(path) as address:
                connection.connect(address)
        except OSError:
            raise NotStartedError(f"no daemon listens at {path}; start one: box up") from None
        yield connection


def _send(connection: socket.socket, said_all: threading.Event) -> None:
    """Unbuffered: what is typed is sent as it comes."""
    with suppress(OSError):
        # A closed stdin is None: its number may be anybody's by now, the connection's own too.
        while sys.stdin is not None and (chunk := os.read(sys.stdin.fileno(), _CHUNK_BYTES)):
            connection.sendall(chunk)
        said_all.set()
        connection.shutdown(socket.SHUT_WR)


def _receive(connection: socket.socket) -> None:
    while chunk := connection.recv(_CHUNK_BYTES):
        sys.stdout.buffer.write(chunk)
        sys.stdout.buffer.flush()
