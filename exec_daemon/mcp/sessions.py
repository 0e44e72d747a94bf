"""How many sessions of the older era each identity has open: nobody takes all that there are.

A session is known from the answer that opened it until it is ended, or was not used for as long as the SDK
keeps one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(slots=True)
class Sessions:
    """`now_s` gives monotonic seconds. Not for several threads."""

    most: int
    idle_s: float
    now_s: Callable[[], float]
    _open: dict[str, tuple[str, float]] = field(default_factory=dict)  # id -> who, when it was used last
    _begun: int = 0

    def begin(self, who: str) -> str | None:
        """A place for the session that this identity is about to open; None where it has as many as one may.

        It is to be ended when the request is answered: the session itself counts from then on.
        """
        now_s = self.now_s()
        self._open = {name: kept for name, kept in self._open.items() if kept[1] > now_s - self.idle_s}
        if sum(owner == who for owner, _ in self._open.values()) >= self.most:
            return None
        self._begun += 1
        place = f"begun {self._begun}"
        self._open[place] = (who, now_s)
        return place

    def used(self, session: str, who: str) -> None:
        """It was opened, or used, by its owner."""
        self._open[session] = (who, self.now_s())

    def ended(self, session: str) -> None:
        """It, or the place for one, counts no more; ending twice is ending once."""
        self._open.pop(session, None)
