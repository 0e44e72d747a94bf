"""Bubblewrap in a container engine's place: the same paths, no network, nothing else of the host's (T-80).

The host's programs are there to be read. A namespace of its own for everything; what it started ends with it,
and it ends with us.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from harvester.container.mounts import Mount
from messaging.container.names import PATHS

_SYSTEM: Final = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/alternatives", "/etc/ssl")
_ENVIRONMENT: Final = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/home/agent", "LANG": "C.UTF-8"}
# What names of hosts are looked up with.
_NETWORK: Final = ("/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf")


def boxed(
    argv: Sequence[str],
    mounts: Iterable[Mount],
    *,
    network: bool = False,
    programs: Sequence[Path] = (),
    cleared: bool = True,
) -> list[str]:
    """`argv` as it runs inside. `programs` are further folders to be read, such as an interpreter's own.

    Not `cleared`: it gets the environment that bubblewrap gets, apart from HOME, PATH and LANG.
    """
    walls = (*_walls(network=network), *(("--clearenv",) if cleared else ()), *_inside())
    return ["bwrap", *walls, *_system(programs), *_bound(mounts), "--", *argv]


def _walls(*, network: bool) -> Iterator[str]:
    yield from ("--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL")
    if network:
        yield "--share-net"
        for name in _NETWORK:
            yield from ("--ro-bind-try", os.path.realpath(name), name)


def _inside() -> Iterator[str]:
    for name, value in _ENVIRONMENT.items():
        yield from ("--setenv", name, value)
    yield from ("--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--tmpfs", "/home/agent")  # noqa: S108
    yield from ("--chdir", PATHS["group"])


def _system(programs: Sequence[Path]) -> Iterator[str]:
    for name in _SYSTEM:
        path = Path(name)
        if path.is_symlink():
            yield from ("--symlink", str(path.readlink()), name)
        elif path.exists():
            yield from ("--ro-bind", name, name)
    for program in programs:
        yield from ("--ro-bind", str(program), str(program))


def _bound(mounts: Iterable[Mount]) -> Iterator[str]:
    for mount in mounts:
        yield from ("--bind" if mount.writable else "--ro-bind", str(mount.source), mount.target)
