"""Processes by the worker that they belong to, as their environment says it (proc(5)).

The mark is inherited by whatever a worker starts, and needs nobody who remembers: a host that comes after a
`kill -9` finds what the last one left. Without /proc there is nothing to be found.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from harvester.worker_host.template import HOME, RUNTIME, WORKER

_PROC: Final = Path("/proc")


@dataclass(frozen=True, slots=True)
class Marked:
    """The processes that have all of these words in their environment."""

    words: frozenset[bytes]

    def pids(self) -> list[int]:
        """Those that there are now."""
        return [int(folder.name) for folder in _PROC.glob("[0-9]*") if self._is(folder)]

    def end(self, number: signal.Signals) -> None:
        """The signal to each of them and its whole group, never to our own."""
        for pid in self.pids():
            self.signal(pid, number)

    def signal(self, pid: int, number: signal.Signals) -> None:
        """To this one, if it is one of them still: its number may be somebody else's meanwhile.

        Asked again while a descriptor holds on to it, and told through that.
        """
        with contextlib.suppress(ProcessLookupError, PermissionError), _held(pid) as descriptor:
            if not self._is(_PROC / str(pid)):
                return
            if (group := os.getpgid(pid)) != os.getpgrp():
                os.killpg(group, number)
            if descriptor is None:
                os.kill(pid, number)
            else:
                signal.pidfd_send_signal(descriptor, number)

    def _is(self, folder: Path) -> bool:
        try:
            words = set((folder / "environ").read_bytes().split(b"\0"))
            return self.words <= words and not _is_zombie(folder)
        except OSError:
            return False


def of_worker(home: Path, worker: str) -> Marked:
    """The processes of one worker."""
    return _marked(home, f"{WORKER}={worker}")


def of_children(home: Path) -> Marked:
    """The processes of all workers that are no tmux sessions."""
    return _marked(home, f"{RUNTIME}=child")


def _marked(home: Path, mark: str) -> Marked:
    return Marked(frozenset({f"{HOME}={home}".encode(), mark.encode()}))


@contextmanager
def _held(pid: int) -> Iterator[int | None]:
    """A descriptor that stays with this process; None where the kernel has none (before Linux 5.3)."""
    try:
        descriptor = os.pidfd_open(pid)
    except OSError as failed:
        if failed.errno != errno.ENOSYS:
            raise
        yield None
        return
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _is_zombie(folder: Path) -> bool:
    """It has ended, and waits for whoever started it."""
    return (folder / "stat").read_bytes().rpartition(b")")[2].split()[0] == b"Z"
