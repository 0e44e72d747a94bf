"""A layer is believed when it refuses: tried in each spawner, before the first program runs (D045)."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping
from typing import Final

from exec_daemon.programs.nursery import kernel


def _writes() -> None:
    """Everybody may write to it, and nothing comes of it; no profile allows it."""
    os.close(os.open("/dev/zero", os.O_WRONLY | os.O_CLOEXEC))


def _unshares() -> None:
    """Nothing is unshared; without a filter everybody may do that."""
    kernel.unshare(0)


def _connects() -> None:
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).close()


_TRIALS: Final[Mapping[str, Callable[[], None]]] = {"landlock": _writes, "seccomp": _unshares}


def hold(layers: dict[str, str], network: str) -> None:
    """Takes out of `layers` each that lets something through."""
    trials = dict(_TRIALS) | ({"seccomp": _connects} if network != "all" else {})
    for layer, trial in trials.items():
        if layer in layers and not _is_refused(trial):
            del layers[layer]


def _is_refused(trial: Callable[[], None]) -> bool:
    try:
        trial()
    except PermissionError:
        return True
    except OSError:  # nothing to try it on: no /dev/zero
        return True
    return False
