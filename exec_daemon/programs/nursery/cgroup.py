"""cgroups of version 2: one for each spawner, below the one that the daemon runs in.

A nursery has a folder for its groups, and holds a lock on it. One that was killed leaves it there, empty and
without the lock; the next one takes it away.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

# With the number of the nursery's process behind it.
_FOLDER: Final = "inband-"
# Another nursery that starts may look into our folder before we hold it.
_TRIES: Final = 5


def own_folder() -> str | None:
    """The folder of the cgroup that this process is in; None where version 2 is not mounted."""
    mounts = [line.split() for line in _lines("/proc/self/mountinfo")]
    # man 5 proc_pid_mountinfo: root and mount point are fields 4 and 5, the type follows a lone dash.
    found = [fields for fields in mounts if fields[fields.index("-") + 1] == "cgroup2"]
    paths = [
        line.partition("::")[2].rstrip("\n") for line in _lines("/proc/self/cgroup") if line[:3] == "0::"
    ]
    if not found or not paths:
        return None
    return os.path.normpath(found[0][4] + "/" + os.path.relpath(paths[0], found[0][3]))


def claim(own: str) -> str:
    """A new folder below `own`, held as long as this process lives. Raises OSError."""
    _clear_away(own)
    folder = f"{own}/{_FOLDER}{os.getpid()}"
    for _ in range(_TRIES):
        with suppress(FileExistsError):
            os.mkdir(folder, 0o755)
        with suppress(FileNotFoundError, BlockingIOError):
            _hold(folder)
            if os.path.exists(folder):
                return folder
    raise BlockingIOError(f"somebody else holds {folder}")


def _hold(folder: str) -> int:
    """A descriptor that keeps others from holding it. Raises BlockingIOError where somebody does."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _clear_away(own: str) -> None:
    """Removes the folders of nurseries that are dead. The kernel keeps those with a process in them.

    One that had our number is dead: groups that it has left would stand in the way of ours.
    """
    for name in os.listdir(own):
        number = name.removeprefix(_FOLDER)
        if name != number and (number == str(os.getpid()) or not os.path.exists(f"/proc/{number}")):
            with suppress(OSError):
                _remove(f"{own}/{name}")


def _remove(folder: str) -> None:
    held = _hold(folder)
    try:
        for group in next(os.walk(folder))[1]:
            os.rmdir(f"{folder}/{group}")
        os.rmdir(folder)
    finally:
        os.close(held)


def _lines(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return list(file)
    except OSError:
        return []


@dataclass(frozen=True, slots=True)
class Group:
    """One cgroup. `kill` is open for writing: who has it can end all in the group, itself too."""

    folder: str
    kill: int

    def enter(self) -> None:
        """Moves this process into it. Raises OSError."""
        _write(f"{self.folder}/cgroup.procs", b"0")

    def limit(self, processes: int) -> str | None:
        """No more than so many processes in it beside this one; None where nobody counts them here."""
        try:
            _write(f"{self.folder}/pids.max", b"%d" % (processes + 1))
        except OSError:
            return None
        return f"at most {processes} in its cgroup"

    def end(self) -> None:
        """Kills all in it."""
        with suppress(OSError):
            os.write(self.kill, b"1")

    def is_empty(self) -> bool:
        """Has nobody in it; then it is gone as well."""
        with suppress(OSError):
            os.rmdir(self.folder)  # refuses as long as there is a process, but for one that is a zombie
        if os.path.exists(self.folder):
            return False
        os.close(self.kill)
        return True


def _write(path: str, content: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, content)
    finally:
        os.close(descriptor)


def count_below(folder: str) -> None:
    """Has the groups below count their processes, where the kernel has the controller `pids` and lets us.

    It is one of the few that go with processes in the group itself (cgroups(7), "threaded controllers").
    """
    with suppress(OSError):
        _write(f"{folder}/cgroup.subtree_control", b"+pids")


def make(folder: str) -> Group:
    """A new group. Raises OSError: no permission, or a kernel that cannot kill a group (before 5.14)."""
    os.mkdir(folder, 0o755)
    try:
        return Group(folder, os.open(f"{folder}/cgroup.kill", os.O_WRONLY | os.O_CLOEXEC))
    except OSError:
        os.rmdir(folder)
        raise
