"""Where the daemon listens: a bound socket or a typed refusal, and TLS on it."""

from __future__ import annotations

import ipaddress
import resource
import socket
import ssl
from typing import Final

from exec_daemon.errors import AddressRefused, PortTaken
from exec_daemon.home import Home
from exec_daemon.settings import DaemonSettings

_BACKLOG: Final = 512
# More connections than this machine could serve.
_MOST_FILES: Final = 65_536


def is_loopback(host: str) -> bool:
    """Does the address stay on this machine?"""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def bind(settings: DaemonSettings) -> socket.socket:
    """The listening socket; raises `PortTaken` or `AddressRefused`."""
    host = settings.host
    if not is_loopback(host) and not settings.allow_remote:
        text = (
            f"{host} can be reached from other machines. Set daemon.allow_remote to listen there on purpose."
        )
        raise AddressRefused(text, host)
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, settings.port, type=socket.SOCK_STREAM)[
            0
        ]
        listener = socket.socket(family, kind, protocol)
    except OSError as failed:
        raise AddressRefused(f"cannot listen on {host}: {failed.strerror}.", host) from None
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(_BACKLOG)
        _allow_many_files()
    except OSError as failed:
        listener.close()
        raise _cannot_bind(settings, failed) from None
    return listener


def _allow_many_files() -> None:
    """Each connection is a file. The usual 1,024 are soon taken by clients that only sit there."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _MOST_FILES if hard == resource.RLIM_INFINITY else min(hard, _MOST_FILES)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def _cannot_bind(settings: DaemonSettings, failed: OSError) -> PortTaken | AddressRefused:
    if isinstance(failed, PermissionError):
        text = f"port {settings.port} needs more rights than this user has. Choose one from 1024 up."
        return AddressRefused(text, str(settings.port))
    text = (
        f"cannot listen on {settings.host}, port {settings.port}: {failed.strerror}. Another daemon may run "
        "already (`box doctor` says); or choose another port with --port, 0 for any free one."
    )
    return PortTaken(text, str(settings.port))


def url_of(listener: socket.socket) -> str:
    """The address that clients use."""
    host, port = listener.getsockname()[:2]
    return f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"


def tls_context(home: Home) -> ssl.SSLContext:
    """TLS 1.2 and newer. No session tickets: a client proves itself with each connection."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.num_tickets = 0
    context.options |= ssl.OP_NO_TICKET | ssl.OP_NO_RENEGOTIATION
    context.load_cert_chain(home.server_cert, home.server_key)
    return context
