"""A job followed to its end through the daemon, over restarts of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any, Final, Protocol

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
    monotonic_s: Callable[[], float] = time.monotonic,
) -> Iterator[JobEvent]:
    """The events of the job from its first on, as they come, up to its end (M-56).

    Raises TimeoutError when the job has not ended after `timeout_s` seconds.
    """
    until_s = None if timeout_s is None else monotonic_s() + timeout_s
    after = -1
    while True:
        left_s = _POLL_S if until_s is None else max(0.0, until_s - monotonic_s())
        for document in client.job_events(job_id, after, min(left_s, _POLL_S)):
            event = read_event(document)
            after = event.seq
            yield event
            if event.type.terminal:
                return
        if until_s is not None and monotonic_s() >= until_s:
            raise TimeoutError
