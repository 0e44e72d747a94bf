"""The first program of a worker; it becomes the worker's own. Run by path, with the standard library alone.

launch.py child PARENT ARGV…   ends by KILL when the process PARENT does, however that ends
launch.py pane FILE            FILE is `{"argv", "environment"}`; it is removed before anything runs
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
from pathlib import Path

# prctl(2): the signal that this process gets when the one that started it dies. It outlives exec.
_PR_SET_PDEATHSIG = 1
# As a shell says that there is no such program.
_NOT_FOUND = 127
# What a program in a pane has to know of it.
_OF_TMUX = ("TERM", "TMUX", "TMUX_PANE")


def main(words: list[str]) -> int:
    """Does not return where the worker's program can be run."""
    kind, first, *argv = words
    environment = dict(os.environ)
    if kind == "child":
        _tie_to(int(first))
    else:
        file = Path(first)
        told = json.loads(file.read_text("utf-8"))
        file.unlink()
        around = {name: os.environ[name] for name in _OF_TMUX if name in os.environ}
        argv, environment = told["argv"], told["environment"] | around
    try:
        os.execvpe(argv[0], argv, environment)  # noqa: S606 - argv of the operator's template, no shell
    except OSError as wrong:
        sys.stderr.write(f"{argv[0]} cannot be started: {wrong.strerror}\n")
    return _NOT_FOUND


def _tie_to(parent: int) -> None:
    try:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    except (OSError, AttributeError):
        return
    if os.getppid() != parent:
        raise SystemExit(1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
