"""A job followed to its end through the daemon, over restarts of it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from typing import Any, Final, Protocol

from harvester.client.retry import PATIENT, RetryPolicy
from harvester.errors import Unavailable
from messaging import JobEvent, read_event

# The daemon answers a poll as soon as there is an event; this bounds one that finds none.
_POLL_S: Final = 20.0


class AsksForEvents(Protocol):
    """The one method of `DaemonClient` that following needs."""

    def job_events(self, job_id: str, after: int = -1, wait_s: float = 0.0) -> list[dict[str, Any]]:
        """Events behind `after`; waits up to `wait_s` for the first."""
        ...


def follow_job(
    client: AsksForEvents,
    job_id: str,
    *,
    timeout_s: float | None = None,
    retry: RetryPolicy = PATIENT,
    monotonic_s: Callable[[], float] = time.monotonic,
) -> Iterator[JobEvent]:
    """The events of the job from its first on, as they come, up to its end (M-56).

    Raises TimeoutError when the job has not ended after `timeout_s` seconds, and `Unavailable` when the
    daemon stays away for longer than `retry` bears.
    """
    until_s = math.inf if timeout_s is None else monotonic_s() + timeout_s
    after, delays = -1, retry.delays()
    while True:
        wait_s = min(_POLL_S, max(0.0, until_s - monotonic_s()))
        try:
            found = client.job_events(job_id, after, wait_s)
        except Unavailable:
            if not delays.again():
                raise
            continue
        delays = retry.delays()
        for event in map(read_event, found):
            after = event.seq
            yield event
            if event.type.terminal:
                return
        if monotonic_s() >= until_s:
            raise TimeoutError
