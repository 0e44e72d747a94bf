"""How many requests of one identity may be under way at once; what is over it is told to come later.

Rates bound how many begin. Streams and long polls begin seldom and stay, each with a connection and memory.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from exec_daemon.access.identity import Identity
from messaging import CallError, ErrorCode, error

# What is short ends in less, and one that follows a thread has others open.
_RETRY_AFTER_S: Final = 1


@dataclass(slots=True)
class Places:
    """Counts by identity and kind. Not for several threads."""

    most_open: int
    most_streams: int
    _taken: dict[tuple[str, bool], int] = field(default_factory=dict)

    def take(self, who: Identity, *, stays: bool) -> Callable[[], None] | CallError:
        """Takes a place and gives the function that frees it, or BUSY."""
        key, most = (str(who), stays), self.most_streams if stays else self.most_open
        taken = self._taken.get(key, 0)
        if taken >= most:
            what = "streams and long polls" if stays else "requests"
            text = f"{who} has {most} {what} open, as many as one may. Close one, or try again later."
            return error(ErrorCode.BUSY, text, details={"retry_after_s": _RETRY_AFTER_S, "most": most})
        self._taken[key] = taken + 1
        return partial(self._free, key)

    def _free(self, key: tuple[str, bool]) -> None:
        self._taken[key] -= 1
        if not self._taken[key]:  # forgotten, so that only who asks now is held here
            del self._taken[key]
