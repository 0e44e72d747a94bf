"""The part of the store's port that remembers jobs that run elsewhere."""

from __future__ import annotations

from typing import Final, Protocol

from exec_daemon.store.outside_values import Arrival, OutsideJob, Reception, Standing
from messaging import JobEvent

# One page of a list.
OUTSIDE_PAGE: Final = 100


class Outside(Protocol):
    """Jobs that run elsewhere and tell their events by callback (M-50 to M-56)."""

    async def expect(self, job_id: str, identity: str) -> OutsideJob:
        """Events of this job may come from now on. Raises `Exists` when any job has the id."""
        ...

    async def outside_job(self, job_id: str) -> OutsideJob | None:
        """The job, or None; jobs of the journal are none of these."""
        ...

    async def outside_jobs(self, limit: int = OUTSIDE_PAGE) -> list[OutsideJob]:
        """The newest first."""
        ...

    async def receive(self, event: JobEvent, sha256: str) -> Reception:
        """Keeps the event, once per number. Raises `NoSuchJob`.

        `CONFLICT` for another body under a number that was used, and for an event behind the end.
        """
        ...

    async def arrivals(self, job_id: str, after: int = -1) -> list[Arrival]:
        """What has come with `seq` > `after`, by number of the event; there may be gaps."""
        ...

    async def standing(self, job_id: str) -> Standing:
        """How far the job has come."""
        ...
