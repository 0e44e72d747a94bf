"""Other programs, run so that nothing but their output comes of it (O-32, O-43).

An argument list, never a shell; an environment that is a literal; `/` as the working directory; nothing
on standard input; a session of its own that is killed as a group when the time is up or the output is
too long. Finding no such program is an answer: None.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final

# Four times what a read may show: enough to redact and cut sensibly.
MOST_OUTPUT_BYTES: Final = 256 * 1024

ENVIRONMENT: Final[Mapping[str, str]] = MappingProxyType(
    {
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "HOME": "/nonexistent",
        "LC_ALL": "C.UTF-8",
        "TZ": "UTC",
        "TERM": "dumb",
        "SYSTEMD_PAGER": "",
    }
)


class Ending(StrEnum):
    """How it ended: by itself, or by us for too much output or too much time."""

    EXITED = "exited"
    CUT = "cut"
    TIMED_OUT = "timed out"


@dataclass(frozen=True, slots=True)
class Output:
    """What a program printed, and how it ended. `code` is its exit code, negative for a signal."""

    text: str
    code: int
    ending: Ending

    @property
    def ok(self) -> bool:
        """It succeeded, or had more to say than we read."""
        return self.ending is Ending.CUT or (self.ending is Ending.EXITED and self.code == 0)


class Deadline:
    """The instant at which a read must have ended, shared by the programs it runs."""

    def __init__(self, limit_s: float) -> None:
        self._end_s = time.monotonic() + limit_s

    @property
    def left_s(self) -> float:
        """Seconds left; never negative."""
        return max(0.0, self._end_s - time.monotonic())


def _drain(pipe: int, deadline: Deadline) -> tuple[bytes, Ending]:
    """What comes out of `pipe` until it closes, the time is up or it is too much."""
    poller = select.poll()
    poller.register(pipe, select.POLLIN)
    kept = bytearray()
    while len(kept) <= MOST_OUTPUT_BYTES:
        if not poller.poll(deadline.left_s * 1000):
            return bytes(kept), Ending.TIMED_OUT
        chunk = os.read(pipe, 65536)
        if not chunk:
            return bytes(kept), Ending.EXITED
        kept += chunk
    return _whole_entries(kept[:MOST_OUTPUT_BYTES]), Ending.CUT


def _whole_entries(kept: bytearray) -> bytes:
    """`kept` up to its last line break or NUL: half an entry could hide half a secret."""
    return bytes(kept[: max(kept.rfind(b"\n"), kept.rfind(b"\0")) + 1])


def _end(process: subprocess.Popen[bytes], ending: Ending, deadline: Deadline) -> Ending:
    """Wait for a process whose output has ended; kill its group when it stays or was cut off."""
    if ending is Ending.EXITED:
        try:
            process.wait(deadline.left_s)
        except subprocess.TimeoutExpired:
            ending = Ending.TIMED_OUT
    if ending is not Ending.EXITED:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return ending


def run(argv: Sequence[str], deadline: Deadline, extra: Mapping[str, str] | None = None) -> Output | None:
    """Run a program and give its standard output; None when it is not on this machine.

    Where no time is left it is not started: that is the same as being stopped at once.

    `extra` adds literals of the caller's to `ENVIRONMENT`. Raises nothing for a program that fails.
    """
    path = shutil.which(argv[0], path=ENVIRONMENT["PATH"])
    if path is None:
        return None
    if not deadline.left_s:
        return Output("", -signal.SIGKILL, Ending.TIMED_OUT)
    with subprocess.Popen(
        [path, *argv[1:]],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd="/",
        env={**ENVIRONMENT, **(extra or {})},
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        printed, ending = _drain(process.stdout.fileno(), deadline)
        ending = _end(process, ending, deadline)
    return Output(printed.decode("utf-8", "replace"), process.returncode, ending)
