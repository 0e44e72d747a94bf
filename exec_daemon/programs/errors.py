"""What can go wrong before a program runs. What it does once it runs is never an error: see `Ran`.

ProgramError
  Unusable      it is missing, may be changed by others, or is no program
  Unconfined    a layer that must be there is not
  Overloaded    all places are taken, or the machine has no room for another process
"""

from __future__ import annotations

import errno
from typing import Final

# What the kernel says when there could be another process or file, but not now.
NO_ROOM: Final = frozenset({errno.EAGAIN, errno.EMFILE, errno.ENFILE, errno.ENOMEM})


class ProgramError(Exception):
    """Root. Its text is for the operator: it may name paths."""


class Unusable(ProgramError):
    """`program` cannot be run here; `problem` says why without naming a path."""

    def __init__(self, program: str, problem: str) -> None:
        super().__init__(f"{program} {problem}")
        self.program = program
        self.problem = problem


class Unconfined(ProgramError):
    """No program is run with less around it than the operator demands."""


class Overloaded(ProgramError):
    """Try again later."""
