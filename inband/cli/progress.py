"""A sign of life on stderr for what takes over a second; silent where nobody watches."""

from __future__ import annotations

import itertools
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

# Anything faster needs no sign of life, and a flicker is worse than none.
_PATIENCE_S: Final = 1.0
_FRAME_S: Final = 0.12
_BAR_CELLS: Final = 24
_FRAMES: Final = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Show `what` with a spinner and the seconds that went by, until the block ends."""
    if not sys.stderr.isatty():
        yield
        return
    done = threading.Event()
    thread = threading.Thread(target=_spin, args=(what, done), daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _spin(what: str, done: threading.Event) -> None:
    if done.wait(_PATIENCE_S):
        return
    for count, frame in enumerate(itertools.cycle(_FRAMES)):
        sys.stderr.write(f"\r{frame} {what} ({_PATIENCE_S + count * _FRAME_S:.0f} s)")
        sys.stderr.flush()
        if done.wait(_FRAME_S):
            break
    sys.stderr.write("\r\x1b[K")
    sys.stderr.flush()


@contextmanager
def counting(what: str) -> Iterator[Callable[[int, int], None]]:
    """A bar that `step(done, of_all)` moves, from the second second on; gone when the block ends."""
    began_s, drawn_s = time.monotonic(), 0.0

    def step(done: int, of_all: int) -> None:
        nonlocal drawn_s
        now_s = time.monotonic()
        if sys.stderr.isatty() and now_s - began_s > _PATIENCE_S and now_s - drawn_s > _FRAME_S:
            drawn_s = now_s
            filled = _BAR_CELLS * done // max(1, of_all)
            bar = "█" * filled + "░" * (_BAR_CELLS - filled)
            sys.stderr.write(f"\r{what} {bar} {100 * done // max(1, of_all)} %")
            sys.stderr.flush()

    try:
        yield step
    finally:
        if drawn_s:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
