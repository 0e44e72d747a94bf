"""How far a watcher has got when replies end out of order: the cursor moves over finished ones only."""

from __future__ import annotations


class Progress:
    """Positions begin in ascending order and finish in any. Not locked; pure bookkeeping."""

    def __init__(self, position: int) -> None:
        self._read = position
        self._open: set[int] = set()

    @property
    def read(self) -> int:
        """Everything up to here has begun."""
        return self._read

    @property
    def done(self) -> int:
        """Everything up to here has finished; a crash may forget all behind it."""
        return min(self._open) - 1 if self._open else self._read

    @property
    def unfinished(self) -> int:
        """How many have begun and not finished."""
        return len(self._open)

    def begin(self, position: int) -> None:
        """The reply at `position` is being dealt with."""
        self._open.add(position)
        self.skip_to(position)

    def skip_to(self, position: int) -> None:
        """Nothing between here and `position` concerns us."""
        self._read = max(self._read, position)

    def finish(self, position: int) -> None:
        """The reply at `position` needs nothing more."""
        self._open.discard(position)
