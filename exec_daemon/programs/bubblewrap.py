"""A program inside bubblewrap (bwrap(1)): it sees what is bound there, and the rest is not there at all.

Our own layers say what may be touched of what there is. Here are namespaces instead, and of our layers the
filter of system calls, which bubblewrap puts on last. It costs milliseconds with each run.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from exec_daemon.programs.nursery.seccomp import filter_of
from exec_daemon.programs.program import Network

PROGRAM: Final = "bwrap"
# All namespaces, none of its own making, no rights in them, no terminal, and an end with whoever started it.
_WALLS: Final = (
    *("--unshare-all", "--unshare-user", "--disable-userns", "--cap-drop", "ALL"),
    *("--die-with-parent", "--new-session"),
)
_PLACES: Final = ("--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp")  # noqa: S108 - its own
_SYSTEM: Final = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64")
# What programs do not start or do not know their own user without.
_ETC: Final = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "passwd", "group", "localtime")
_ETC_OF: Final = {
    Network.NONE: (),
    Network.LOCAL: (),
    Network.ALL: ("resolv.conf", "hosts", "nsswitch.conf", "services", "gai.conf", "ssl", "pki"),
}
# The descriptor that bubblewrap reads the filter from.
_FILTER: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """What is bound into it, under the same path. `hidden` is empty there, also beneath what is bound."""

    readable: tuple[str, ...] = ()
    writable: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    network: Network = Network.NONE
    folder: str = "/"

    def filter(self) -> bytes:
        """The filter of system calls; empty on a machine whose numbers we do not have."""
        try:
            return filter_of(platform.machine(), network=self.network)
        except KeyError:
            return b""

    def argv(self, words: Sequence[str]) -> tuple[str, ...]:
        """The words that run `words` inside. The filter has to be on descriptor 3, unless it is empty."""
        return (PROGRAM, *_WALLS, *self._options(), "--", *words)

    def _options(self) -> Iterator[str]:
        if self.network is Network.ALL:
            yield "--share-net"
        yield from _system()
        for name in (*_ETC, *_ETC_OF[self.network]):
            yield from ("--ro-bind-try", f"/etc/{name}", f"/etc/{name}")
        yield from _PLACES
        if self.network is Network.LOCAL:
            yield from ("--ro-bind-try", "/run", "/run")
        yield from self._bound()
        yield from ("--chdir", self.folder)
        if self.filter():
            yield from ("--seccomp", str(_FILTER))

    def _bound(self) -> Iterator[str]:
        wanted = (
            *(("--ro-bind", path) for path in self.readable),
            *(("--bind", path) for path in self.writable),
        )
        for option, path in wanted:
            if not any(_beneath(path, secret) for secret in self.hidden):
                yield from (option, path, path)
        seen = (*self.readable, *self.writable, *(("/run",) if self.network is Network.LOCAL else ()))
        for secret in self.hidden:
            for path in seen:
                if (inside := _beneath(secret, path)) is not None and not _beneath(path, secret):
                    yield from ("--tmpfs", os.path.normpath(f"{path}/{inside}"))


def _system() -> Iterator[str]:
    """As it is on this machine: where /bin is a link into /usr, it is one inside."""
    for name in _SYSTEM:
        path = Path(name)
        if path.is_symlink():
            yield from ("--symlink", str(path.readlink()), name)
        elif path.exists():
            yield from ("--ro-bind", name, name)


def _beneath(path: str, folder: str) -> str | None:
    """Where `path` really lies in `folder`, `.` for the folder itself; None where it does not."""
    real, around = os.path.realpath(path), os.path.realpath(folder)
    return os.path.relpath(real, around) if Path(real).is_relative_to(around) else None
