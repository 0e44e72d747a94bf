"""Who is at the other end of a connection, as far as the transport itself proves it.

uvicorn gives an application no client certificate, so `exec_daemon.protocol` puts a `Peer` into the scope of
each request under `PEER`. Where there is none, nobody is believed: `exec_daemon.api.asker` fails closed.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import struct
from dataclasses import dataclass
from typing import Final

from exec_daemon.certificates.naming import ClientCertificate, client_certificate

PEER: Final = "inband.peer"
# struct ucred of unix(7): pid, uid, gid.
_CREDENTIALS: Final = struct.Struct("3i")


@dataclass(frozen=True, slots=True)
class Peer:
    """The certificate that a client showed over TLS, or the uid at the other end of a unix socket."""

    certificate: ClientCertificate | None = None
    uid: int | None = None


def peer_uid(connection: socket.socket) -> int:
    """The user at the other end, as the kernel noted it when the connection was made (SO_PEERCRED)."""
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    return int(_CREDENTIALS.unpack(credentials)[1])


def peer_of(transport: asyncio.BaseTransport) -> Peer | None:
    """Who is there; None where that is not known: neither TLS nor a unix socket.

    A resumed session (RFC 5246 7.3) shows a certificate without checking it again. That is no way around a
    revocation: each reading of the certificates has a session cache of its own, and each request asks
    whether the certificate counts.
    """
    tls = transport.get_extra_info("ssl_object")
    if isinstance(tls, ssl.SSLObject):
        shown = tls.getpeercert(binary_form=True)
        return Peer(certificate=client_certificate(shown) if shown else None)
    connection = transport.get_extra_info("socket")
    if connection is not None and connection.family == socket.AF_UNIX:
        return Peer(uid=peer_uid(connection))
    return None
