"""One run of a program: exactly these arguments, nothing inherited, ended in time (O-32).

It is over when the program itself has ended. What it has left behind is not waited for, whatever of its
pipes that holds.
"""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from exec_daemon.programs.nursery.output import Stream, pair
from exec_daemon.programs.order import Order

# Some are ignored here, or by whoever started us; a program gets each as the system has it by default. All of
# them: of one that is not named the C library asks the kernel first.
_DEFAULTS: Final = tuple(signal.valid_signals())

# What a program is given has the numbers from 0: its three streams and one more.
_STDIN, _STDOUT, _STDERR, _THIRD = range(4)
_DUP2: Final = os.POSIX_SPAWN_DUP2
_NOTHING: Final = (os.POSIX_SPAWN_OPEN, _STDIN, "/dev/null", os.O_RDONLY, 0)


class Ended(NamedTuple):
    """`status` is that of waitpid(2); None for a program that was stopped. The streams are still open."""

    status: int | None
    out: Stream
    err: Stream


def reserve_numbers() -> None:
    """What is opened from now on has none of the numbers under which a program is given something.

    A program that was opened and checked would be closed by what is put into its place, and that be run.
    """
    while (number := os.open("/dev/null", os.O_RDONLY | os.O_CLOEXEC)) <= _THIRD:
        pass
    os.close(number)


def run(order: Order, stops: Sequence[int]) -> Ended:
    """Runs it until it ends, its time is up, or one of the descriptors `stops` has something to read.

    Raises OSError when it cannot be started.
    """
    os.chdir(order.folder)
    out, err = pair(order.most_whole_bytes)
    try:
        pid = _start(order, out.writer, err.writer)
    except BaseException:
        out.close()
        err.close()
        raise
    try:
        ended = _wait(pid, out, err, stops, order.limit_s)
    except OSError:  # no room to watch it: it has run, so nobody may be told that it has not
        os.kill(pid, signal.SIGKILL)
        ended = True
    return Ended(os.waitpid(pid, 0)[1] if ended else None, out, err)


def _start(order: Order, out: int, err: int) -> int:
    given: list[tuple[Any, ...]] = [_NOTHING, (_DUP2, out, _STDOUT), (_DUP2, err, _STDERR)]
    files: list[int] = []
    try:
        for number, content in ((_STDIN, order.stdin), (_THIRD, order.third)):
            if content:
                files.append(_file(content))
                given.append((_DUP2, files[-1], number))
        return os.posix_spawn(
            order.path,
            order.argv,
            order.environment,
            file_actions=given,
            setsid=True,
            setsigmask=(),
            setsigdef=_DEFAULTS,
        )
    finally:
        for file in files:
            os.close(file)


def _file(content: bytes) -> int:
    """A program that does not read it cannot make us wait, as with a pipe it could."""
    file = os.memfd_create("input", os.MFD_CLOEXEC)
    os.write(file, content)
    os.lseek(file, 0, os.SEEK_SET)
    return file


def _wait(pid: int, out: Stream, err: Stream, stops: Sequence[int], limit_s: float) -> bool:
    """Reads what it prints. Has it ended by itself?

    The kernel looks at the leader before the streams: if it has ended, what it printed is ready by then.
    """
    until_s = time.monotonic() + limit_s
    leader = os.pidfd_open(pid)
    poller = select.poll()
    for each in (leader, *stops, out.reader, err.reader):
        poller.register(each, select.POLLIN)
    try:
        while True:
            ready = dict(poller.poll(max(0.0, until_s - time.monotonic()) * 1000))
            if out.reader in ready:
                out.drain()
            if err.reader in ready:
                err.drain()
            if leader in ready:
                return True
            if not ready.keys().isdisjoint(stops) or time.monotonic() >= until_s:
                return False
    finally:
        os.close(leader)
