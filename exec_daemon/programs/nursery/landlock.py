"""Landlock: which files may be touched, which ports connected to, whom signals may reach.

landlock(7) and the kernel's `userspace-api/landlock`. Rights only ever get fewer, and a kernel knows those
of its version: what it does not know is left out, and reported.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from struct import pack
from typing import Final

from exec_daemon.programs.nursery import kernel

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_TRUNCATE, _IOCTL_DEV = 1 << 14, 1 << 15
_READ: Final = _EXECUTE | _READ_FILE | _READ_DIR
# How many rights on files each version knows (1: up to make_sym, 2: refer, 3: truncate, 5: ioctl_dev).
_FILE_RIGHTS: Final[Mapping[int, int]] = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
# What may be granted for a file; the rest is for folders.
_OF_FILES: Final = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_TCP: Final = 0b11  # bind and connect; version 4
_SCOPES: Final = 0b11  # abstract Unix sockets and signals to others; version 6


def restrict(readable: Iterable[str], writable: Iterable[str], *, tcp: bool, abstract: bool) -> str:
    """From now on only what is beneath these paths; missing ones are left out. Says what holds.

    `tcp` and `abstract` leave TCP and other processes' abstract sockets as they are. Raises OSError.
    """
    version = kernel.landlock_version()
    rights = (1 << _FILE_RIGHTS[min(version, 5)]) - 1
    network = 0 if tcp or version < 4 else _TCP
    scopes = 0 if version < 6 else _SCOPES & ~int(abstract)
    ruleset = kernel.landlock_ruleset(_attributes(version, rights, network, scopes))
    try:
        for path in readable:
            _allow(ruleset, path, _READ & rights)
        for path in writable:
            _allow(ruleset, path, rights)
        kernel.landlock_restrict(ruleset)
    finally:
        os.close(ruleset)
    return f"version {version}{', no TCP' if network else ''}{', no signals to others' if scopes else ''}"


def _attributes(version: int, rights: int, network: int, scopes: int) -> bytes:
    """As long as the version has fields: a kernel refuses longer ones."""
    size = 8 if version < 4 else 16 if version < 6 else 24
    return pack("=QQQ", rights, network, scopes)[:size]


def _allow(ruleset: int, path: str, rights: int) -> None:
    with suppress(FileNotFoundError, NotADirectoryError, PermissionError):
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        try:
            kind = os.fstat(descriptor).st_mode
            allowed = rights if stat.S_ISDIR(kind) else rights & _OF_FILES
            # struct landlock_path_beneath_attr is packed: the descriptor follows at once.
            kernel.landlock_path(ruleset, pack("=Qi", allowed, descriptor))
        finally:
            os.close(descriptor)


def without(paths: Iterable[str], hidden: Iterable[str]) -> list[str]:
    """`paths`, where those with something hidden beneath are replaced by what is beside it.

    A rule can only allow. What is made beside it later is not readable either.
    """
    found = [os.path.realpath(path) for path in paths]
    for secret in map(os.path.realpath, hidden):
        found = [part for path in found for part in _around(path, secret)]
    return found


def _around(path: str, secret: str) -> list[str]:
    if path == secret or path.startswith(secret + "/"):
        return []
    if path != "/" and not secret.startswith(path + "/"):
        return [path]
    try:
        inside = os.listdir(path)
    except OSError:
        return []
    beside = (os.path.join(path, name) for name in inside)
    # A link could lead to what is hidden; where it leads to stands in a list of its own.
    return [part for each in beside if not os.path.islink(each) for part in _around(each, secret)]
