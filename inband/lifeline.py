"""A child that never outlives its parent, even when the parent dies by SIGKILL."""

from __future__ import annotations

import ctypes
import os
import signal
from typing import Final

# prctl(2): the signal that this process gets when its parent dies.
_PR_SET_PDEATHSIG: Final = 1


def end_with_parent(parent_pid: int) -> None:
    """Ask the kernel for SIGTERM when the parent ends; exit at once if it has ended already.

    Linux only; elsewhere the supervisor's own signals must do.
    """
    try:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    except (OSError, AttributeError):
        return
    if os.getppid() != parent_pid:
        raise SystemExit(1)
