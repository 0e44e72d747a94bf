"""What the daemon is told of workers, and how often."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from harvester.client import DaemonClient
from harvester.errors import Refused

log = logging.getLogger(__name__)

OVER: Final = ("ended", "failed")
_MOST_REASON_CHARS: Final = 300


@dataclass(slots=True)
class Reports:
    """`clock` gives monotonic seconds. Usable from several threads."""

    client: DaemonClient
    clock: Callable[[], float]
    told_at: dict[str, float] = field(default_factory=dict)

    def say(
        self, worker: dict[str, Any], state: str, reason: str | None = None, session: str | None = None
    ) -> None:
        """Raises `ClientError` where it cannot be told now; one that the daemon has forgotten is no news."""
        name, short = worker["id"], reason[:_MOST_REASON_CHARS] if reason else None
        try:
            self.client.report_worker(name, state, reason=short, session=session)
        except Refused as refused:
            log.warning("worker %s: %s", name, refused.error.message)
        self.told_at[name] = self.clock()
        if state in OVER:
            log.info("worker %s %s: %s", name, state, short)
            self.told_at.pop(name, None)

    def beat(self, worker: dict[str, Any], state: str, every_s: float) -> None:
        """That it is as it was, when it is time to say so; at once where it is not."""
        told_at = self.told_at.get(worker["id"])
        if worker["state"] != state or told_at is None or self.clock() - told_at >= every_s:
            self.say(worker, state)
