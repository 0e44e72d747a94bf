"""Where the daemon listens: a bound socket or a typed refusal."""

from __future__ import annotations

import contextlib
import ipaddress
import os
import resource
import shutil
import socket
import stat
from pathlib import Path
from typing import Final

from exec_daemon.errors import AddressRefused, PortTaken
from exec_daemon.settings import DaemonSettings
from messaging.ipc.socket_address import short_address

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
    if not is_loopback(host) and settings.certificate is None and not settings.allow_own_certificates:
        text = (
            f"{host} can be reached from other machines, and the daemon's certificate is one that it made "
            "itself. Set tls.certificate and tls.key to one that they can verify, or "
            "daemon.allow_own_certificates where each client gets this daemon's ca.pem."
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


def bind_unix(path: Path, group: str = "") -> socket.socket:
    """A socket in the file system, 0600, or 0660 for `group`; raises `AddressRefused`.

    Who connects is asked for its uid all the same. A socket that nobody listens on is a leftover.
    """
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)
    try:
        _remove_leftover(path)
        with short_address(path) as address:
            listener.bind(address)
        if group:
            shutil.chown(path, group=group)
            path.chmod(0o660)
        listener.listen(_BACKLOG)
    except (OSError, LookupError) as failed:
        listener.close()
        reason = failed.strerror if isinstance(failed, OSError) else f"there is no group {group!r}"
        raise AddressRefused(f"cannot listen at {path}: {reason}.", str(path)) from None
    finally:
        os.umask(before)
    return listener


def _remove_leftover(path: Path) -> None:
    """Of a daemon that was killed. What somebody listens on, and any other file, stays and is in the way."""
    with contextlib.suppress(FileNotFoundError):
        if stat.S_ISSOCK(path.lstat().st_mode) and not _is_in_use(path):
            path.unlink()


def _is_in_use(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as caller, short_address(path) as address:
        caller.setblocking(False)  # noqa: FBT003 - positional only
        try:
            caller.connect(address)
        except ConnectionRefusedError:
            return False
        except OSError:  # so many are waiting, or it is of another kind: it is somebody's
            return True
    return True


def url_of(listener: socket.socket) -> str:
    """The address that clients use."""
    host, port = listener.getsockname()[:2]
    return f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"
