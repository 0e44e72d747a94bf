"""Tells the service manager how far we are (systemd's sd_notify(3)): a datagram to the socket it names."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Mapping

READY = "READY=1"
STOPPING = "STOPPING=1"


def notify(state: str, environment: Mapping[str, str] = os.environ) -> None:
    """Sends the state; does nothing where no manager listens. It never fails: the service runs anyway."""
    address = environment.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as channel:
        channel.connect("\0" + address[1:] if address[0] == "@" else address)
        channel.sendall(state.encode())
