"""What `[sandbox]` says of all programs, and the profile that a single one gets from it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from exec_daemon.programs.program import Network, Profile

# What ordinary programs read: other programs, libraries, the machine's configuration and its state. Not
# /home, /root and /tmp. /dev is for null, zero, random and the like: writing there is a matter of modes.
READABLE: Final = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/etc", "/proc", "/sys", "/run", "/var"),
    *("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/nix/store", "/gnu/store"),
)
# Who runs programs for a daemon that is root: nobody owns anything.
_UNPRIVILEGED: Final = "nobody"
# Layers that an operator may demand.
LAYERS: Final = ("landlock", "seccomp", "cgroup", "pids")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sandbox:
    """`readable` and `writable` come on top of what is always readable. Limits: 0 for none.

    `require` names layers without which nothing is run, and the daemon does not start. `places` is how many
    programs run at a time.
    """

    require: tuple[str, ...] = ()
    readable: tuple[str, ...] = ()
    writable: tuple[str, ...] = ()
    network: str = Network.NONE
    user: str = ""
    memory_bytes: int = 2 * 1024**3
    file_bytes: int = 1024**3
    processes: int = 512
    cpu_s: int = 600
    open_files: int = 1024
    places: int = 16

    def profile(self, home: Path, **own: Any) -> Profile:
        """What a program may do; `own` is what its op says. Nothing of the state directory `home` ever."""
        return Profile(
            readable=(*READABLE, *self.readable, *own.get("readable", ())),
            writable=(*self.writable, *own.get("writable", ())),
            hidden=(str(home),),
            network=Network(own.get("network") or self.network),
            user=own.get("user") or self.user or (_UNPRIVILEGED if os.geteuid() == 0 else ""),
            confined=own.get("confined", True),
            require=self.require,
            memory_bytes=self.memory_bytes,
            file_bytes=self.file_bytes,
            processes=self.processes,
            cpu_s=self.cpu_s,
            open_files=self.open_files,
        )

    def reading(self, home: Path) -> Profile:
        """For another box-ctl: it reads what the daemon's user may read, and writes nothing (D2)."""
        return Profile(
            readable=("/",),
            hidden=(str(home),),
            network=Network.LOCAL,
            require=self.require,
            processes=self.processes,
            open_files=self.open_files,
        )
