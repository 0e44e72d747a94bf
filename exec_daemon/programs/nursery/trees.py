"""How everything that a spawner has started is ended: by its cgroup, its PID namespace, or a walk.

A cgroup (kernel 5.14) and a namespace end all at once, whatever forks meanwhile. Without either, each orphan
becomes a child of the spawner, which kills its children until it has none.
"""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from enum import StrEnum
from typing import Final

from exec_daemon.programs.nursery import kernel

# How long a walk goes on against a tree that forks as fast as it is killed.
_WALK_S: Final = 2.0


class Tree(StrEnum):
    """In order of preference."""

    CGROUP = "cgroup"
    PID_NAMESPACE = "pid namespace"
    WALK = "walk"


def adopt_orphans() -> None:
    """Processes below this one whose parent has ended become its children."""
    kernel.prctl(kernel.PR_SET_CHILD_SUBREAPER, 1)


def enter_namespace() -> None:
    """The next child is the first process of a PID namespace: when it ends, so do all others in it.

    An ordinary user needs a user namespace for it, in which the user is who it is. Raises OSError.
    """
    uid, gid = os.geteuid(), os.getegid()
    flags = kernel.CLONE_NEWPID | kernel.CLONE_NEWNS
    kernel.unshare(flags if uid == 0 else flags | kernel.CLONE_NEWUSER)
    if uid != 0:
        _write("/proc/self/setgroups", b"deny")
        _write("/proc/self/uid_map", b"%d %d 1" % (uid, uid))
        _write("/proc/self/gid_map", b"%d %d 1" % (gid, gid))


# Processes by user as they were outside, which the `/proc` of a namespace does not show.
_outside: Final[Counter[int]] = Counter()


def show_own_processes() -> None:
    """For the first process of a namespace: programs find themselves in `/proc`. Raises OSError."""
    _outside.update(_owners())
    kernel.mount_proc()


def processes_of(uid: int) -> int:
    """How many a user has, here or, by the last look at them, outside."""
    return max(_outside[uid], Counter(_owners())[uid])


def _owners() -> Iterator[int]:
    for name in os.listdir("/proc"):
        with suppress(OSError):
            if name.isdecimal():
                yield os.stat(f"/proc/{name}").st_uid


def _write(path: str, content: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, content)
    finally:
        os.close(descriptor)


def children() -> set[int]:
    """The processes whose parent this one is."""
    try:
        with open("/proc/thread-self/children", "rb") as file:
            return set(map(int, file.read().split()))
    except OSError:  # a kernel without CONFIG_PROC_CHILDREN
        return {pid for pid, parent in _processes() if parent == os.getpid()}


def _processes() -> Iterator[tuple[int, int]]:
    for name in os.listdir("/proc"):
        if name.isdecimal():
            with suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
                yield int(name), int(file.read().rpartition(b")")[2].split()[1])


def kill_children(spared: frozenset[int] | set[int] = frozenset()) -> bool:
    """One step of the walk: kills each child but `spared`. Were there any?"""
    found = children() - spared
    for pid in found:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    return bool(found)


def has_children() -> bool:
    """Reaps what has ended. Is there still something that this process has started, at whatever depth?

    Exact where orphans are adopted: as long as one process of a tree lives, its root or an orphan of it is
    a child of ours.
    """
    try:
        while os.waitpid(-1, os.WNOHANG) != (0, 0):
            pass
    except ChildProcessError:
        return False
    return True


def walk() -> bool:
    """Kills all that this process has started. Is nothing left?"""
    until_s = time.monotonic() + _WALK_S
    while has_children() and time.monotonic() < until_s:
        kill_children()
        time.sleep(0.001)
    return not has_children()
