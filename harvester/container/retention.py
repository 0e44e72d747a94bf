"""Lanes that nobody goes on with go, with all that is theirs, when they have been silent for long (T-12).

A group's own lane stays as long as the group. A further one is there for one thread, such as that of a
timer's run; should something be said in that thread once more, the lane is made anew with a new session.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from harvester.container.groups import LANE
from harvester.container.layout import Layout
from harvester.container.ledger import Ledger
from harvester.container.lock import LaneBusy, held

_log: Final = logging.getLogger(__name__)

_DAY_MS: Final = 24 * 3_600_000


@dataclass(frozen=True, slots=True)
class LaneRetention:
    """`keep_days` 0 means without end."""

    layout: Layout
    ledger: Ledger
    keep_days: int

    def once(self, now_ms: int) -> list[str]:
        """The lanes that went. One in which something waits or somebody works stays, however old it is."""
        before = now_ms - self.keep_days * _DAY_MS
        further = (lane for lane in self.layout.lanes() if LANE in lane) if self.keep_days else ()
        gone = [lane for lane in further if self._is_silent(lane, before) and self._remove(lane)]
        if gone:
            _log.info("%d lanes were silent for %d days and are gone", len(gone), self.keep_days)
        return gone

    def _is_silent(self, lane: str, before_ms: int) -> bool:
        if self.ledger.unanswered(lane):
            return False
        last_ms = self.ledger.last_ms(lane)
        return (self.layout.made_ms(lane) if last_ms is None else last_ms) < before_ms

    def _remove(self, lane: str) -> bool:
        with suppress(LaneBusy), held(self.layout.lock(lane), lane):
            self.layout.remove(lane)
            self.ledger.forget(lane)
            return True
        return False
