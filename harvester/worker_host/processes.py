"""Processes by the worker that they belong to, as their environment says it (proc(5)).

The mark is inherited by whatever a worker starts, and needs nobody who remembers: a host that comes after a
`kill -9` finds what the last one left. Without /proc there is nothing to be found.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from harvester.worker_host.template import HOME, RUNTIME, WORKER

_PROC: Final = Path("/proc")


def of_worker(home: Path, worker: str) -> list[int]:
    """The processes of one worker."""
    return list(_marked(home, f"{WORKER}={worker}"))


def of_children(home: Path) -> list[int]:
    """The processes of all workers that are no tmux sessions."""
    return list(_marked(home, f"{RUNTIME}=child"))


def _marked(home: Path, mark: str) -> Iterator[int]:
    wanted = {f"{HOME}={home}".encode(), mark.encode()}
    for folder in _PROC.glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if wanted <= set((folder / "environ").read_bytes().split(b"\0")) and not _is_zombie(folder):
                yield int(folder.name)


def _is_zombie(folder: Path) -> bool:
    """It has ended, and waits for whoever started it."""
    return (folder / "stat").read_bytes().rpartition(b")")[2].split()[0] == b"Z"


def end(pids: list[int], number: signal.Signals) -> None:
    """To each of them and its whole group, never to our own."""
    groups = set()
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            groups.add(os.getpgid(pid))
            os.kill(pid, number)
    for group in groups - {os.getpgrp()}:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)
