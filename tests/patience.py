"""Waiting for another process, a thread or the kernel: looked at often, given up late.

A machine that is busy with other things takes twenty times as long as an idle one. A limit that the idle one
just keeps fails there, and proves nothing here.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

# Only what never comes is waited for so long.
PATIENCE_S = 60.0
# How long that takes which must not be waited for: "it was not" is `< PATIENCE_S`, on any machine.
AGES_S = 600.0
# Limits that have to run out, but not before something else has happened. An idle machine needs the first.
GROWING_S = (0.5, 2.0, 8.0, 32.0)

_LOOK_S = 0.02

T = TypeVar("T")


def until(true: Callable[[], T], told: Callable[[], object] = lambda: "it never came") -> T:
    """What `true` answers once it is true; else a failure that shows what is `told`."""
    end_s = time.monotonic() + PATIENCE_S
    while not (found := true()):
        assert time.monotonic() < end_s, told()
        time.sleep(_LOOK_S)
    return found


async def until_async(true: Callable[[], T]) -> T:
    """The same beside others in one event loop."""
    end_s = time.monotonic() + PATIENCE_S
    while not (found := true()):
        assert time.monotonic() < end_s
        await asyncio.sleep(_LOOK_S)
    return found


def in_time(act: Callable[[float], T], came_so_far: Callable[[T], object]) -> T:
    """What `act` came to under the first limit that left enough time for what happens before it runs out."""
    for limit_s in GROWING_S[:-1]:
        if came_so_far(found := act(limit_s)):
            return found
    return act(GROWING_S[-1])


async def in_time_async(act: Callable[[float], Awaitable[T]], came_so_far: Callable[[T], object]) -> T:
    for limit_s in GROWING_S[:-1]:
        if came_so_far(found := await act(limit_s)):
            return found
    return await act(GROWING_S[-1])


@contextmanager
def meanwhile(after_s: float, act: Callable[[], object]) -> Iterator[None]:
    """Does it in a thread while the body waits for what comes of it; the body is left when both are over."""
    later = threading.Timer(after_s, act)
    later.start()
    try:
        yield
    finally:
        later.join()


def runs(pid: int) -> bool:
    """A zombie does not: whoever adopted it has not looked yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def ends(pid: int) -> bool:
    """Waits: what was killed is gone when it next gets its turn."""
    return until(lambda: not runs(pid), lambda: f"process {pid} still runs")
