"""Messages between the daemon, the nursery and its spawners: JSON, but for runs (`order`).

Each is one packet of a SOCK_SEQPACKET pair, so that none can be read in part. Descriptors ride along.
Standard library only: the spawners run without site-packages.
"""

from __future__ import annotations

import errno
import json
import socket
from array import array
from collections.abc import Mapping, Sequence
from typing import Any, Final

# One packet holds a request (arguments, environment, standard input) or a reply (what fits of the output).
MOST_BYTES: Final = 192 * 1024
# Two streams that were cut, or one program file, or the socket of a new spawner.
_ROOM: Final = socket.CMSG_SPACE(4 * array("i").itemsize)


def pair() -> tuple[socket.socket, socket.socket]:
    """Two connected ends; both are closed on exec."""
    ends = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    for end in ends:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, MOST_BYTES)
    return ends


def pack(message: Mapping[str, Any]) -> bytes:
    """The packet."""
    return json.dumps(message).encode("ascii")


def unpack(packet: bytes) -> dict[str, Any]:
    """What was packed. Raises ValueError for what is no JSON."""
    message: dict[str, Any] = json.loads(packet)
    return message


def send(end: socket.socket, packet: bytes, descriptors: Sequence[int] = ()) -> None:
    """Raises OSError: EMSGSIZE where it is too long, EPIPE where nobody listens."""
    if len(packet) > MOST_BYTES:
        raise OSError(errno.EMSGSIZE, "the packet is too long")
    if descriptors:
        socket.send_fds(end, [packet], list(descriptors))
    else:
        end.send(packet)


class Inbox:
    """Where the packets of one end arrive: in memory that is there once.

    So much of it anew for each packet would be given back to the kernel each time, and faulted in again.
    """

    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self._room = bytearray(MOST_BYTES)
        self._view = memoryview(self._room)

    def receive(self) -> tuple[bytes, list[int]]:
        """The next packet and its descriptors, closed on exec; b"" at the end. Raises OSError."""
        # Not `socket.recv_fds`: it loses the flag that keeps the descriptors from what is executed next.
        size, more, _, _ = self._end.recvmsg_into([self._room], _ROOM, socket.MSG_CMSG_CLOEXEC)
        # Nothing else comes along on a socket that was not asked for more (unix(7)), and all in one piece.
        return bytes(self._view[:size]), array("i", more[0][2]).tolist() if more else []
