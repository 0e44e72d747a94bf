"""One run of a program: exactly these arguments, nothing inherited, ended in time (O-32).

It is over when the program itself has ended. What it has left behind is not waited for, whatever of its
pipes that holds.
"""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from exec_daemon.programs.nursery.output import Stream, pair

# Ignored here, or by whoever started us; a program gets every signal as the system has it by default.
_DEFAULTS: Final = tuple(
    getattr(signal, f"SIG{name}") for name in "HUP INT QUIT PIPE TERM CHLD XFSZ USR1 USR2 TTOU TTIN".split()
)

# How many files a program may be given, under the numbers from 0: its three streams and one more.
_MOST_GIVEN: Final = 4


@dataclass(frozen=True, slots=True)
class Order:
    """`path` may be `/proc/self/fd/N`: a program that was opened and checked. Nothing is interpreted."""

    path: str
    argv: list[str]
    environment: Mapping[str, str]
    folder: str
    limit_s: float
    most_whole_bytes: int
    stdin: bytes
    third: bytes


@dataclass(frozen=True, slots=True)
class Ended:
    """`status` is that of waitpid(2); None for a program that was stopped. The streams are still open."""

    status: int | None
    out: Stream
    err: Stream


def reserve_numbers() -> None:
    """What is opened from now on has none of the numbers under which a program is given something.

    A program that was opened and checked would be closed by what is put into its place, and that be run.
    """
    while (number := os.open("/dev/null", os.O_RDONLY | os.O_CLOEXEC)) < _MOST_GIVEN:
        pass
    os.close(number)


def run(order: Order, stops: Sequence[int]) -> Ended:
    """Runs it until it ends, its time is up, or one of the descriptors `stops` has something to read.

    Raises OSError when it cannot be started.
    """
    os.chdir(order.folder)
    streams = pair(order.most_whole_bytes)
    try:
        pid = _start(order, streams)
    except BaseException:
        for stream in streams:
            stream.close()
        raise
    try:
        ended = _wait(pid, streams, stops, time.monotonic() + order.limit_s)
    except OSError:  # no room to watch it: it has run, so nobody may be told that it has not
        os.kill(pid, signal.SIGKILL)
        ended = True
    return Ended(os.waitpid(pid, 0)[1] if ended else None, *streams)


def _start(order: Order, streams: Sequence[Stream]) -> int:
    stdin = _input(order.stdin)
    further = [_input(order.third)] if order.third else []
    ends = (stdin, *(stream.writer for stream in streams), *further)
    try:
        return os.posix_spawn(
            order.path,
            order.argv,
            order.environment,
            file_actions=[(os.POSIX_SPAWN_DUP2, end, number) for number, end in enumerate(ends)],
            setsid=True,
            setsigmask=(),
            setsigdef=_DEFAULTS,
        )
    finally:
        for end in (stdin, *further):
            os.close(end)


def _input(content: bytes) -> int:
    """A file of `content`: a program that does not read it cannot make us wait, as a pipe could."""
    if not content:
        return os.open("/dev/null", os.O_RDONLY | os.O_CLOEXEC)
    file = os.memfd_create("input", os.MFD_CLOEXEC)
    os.write(file, content)
    os.lseek(file, 0, os.SEEK_SET)
    return file


def _wait(pid: int, streams: Sequence[Stream], stops: Sequence[int], until_s: float) -> bool:
    """Reads what it prints. Has it ended by itself?

    The leader is looked at before the streams: if it has ended, what it printed is ready to be read by then.
    """
    leader = os.pidfd_open(pid)
    poller = select.poll()
    for each in (leader, *stops, *(stream.reader for stream in streams)):
        poller.register(each, select.POLLIN)
    try:
        while True:
            ready = {each for each, _ in poller.poll(max(0.0, until_s - time.monotonic()) * 1000)}
            for stream in streams:
                if stream.reader in ready:
                    stream.drain()
            if leader in ready:
                return True
            if not ready.isdisjoint(stops) or time.monotonic() >= until_s:
                return False
    finally:
        os.close(leader)
