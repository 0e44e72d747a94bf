"""Jobs that run outside, in memory. The rule of what may arrive is in `once`."""

from __future__ import annotations

from dataclasses import replace

from exec_daemon.store import once
from exec_daemon.store.errors import Exists, NoSuchJob
from exec_daemon.store.feed import job_topic
from exec_daemon.store.json_text import kept
from exec_daemon.store.memory.state import MemoryPart
from exec_daemon.store.outside_port import OUTSIDE_PAGE
from exec_daemon.store.outside_values import Arrival, OutsideJob, Reception, Standing
from messaging import JobEvent


class MemoryOutside(MemoryPart):
    """The `Outside` part of the port."""

    async def expect(self, job_id: str, identity: str) -> OutsideJob:
        at = self._clock()
        if job_id in self._tables.outside or job_id in self._tables.jobs:
            raise Exists(f"there is a job {job_id!r} already", job_id)
        made = OutsideJob(id=job_id, identity=identity, created_at=at)
        self._tables.outside[job_id] = made
        return made

    async def outside_job(self, job_id: str) -> OutsideJob | None:
        return self._tables.outside.get(job_id)

    async def outside_jobs(self, limit: int = OUTSIDE_PAGE) -> list[OutsideJob]:
        return list(reversed(self._tables.outside.values()))[:limit]

    async def receive(self, event: JobEvent, sha256: str) -> Reception:
        at = self._clock()
        if event.job_id not in self._tables.outside:
            raise NoSuchJob(f"there is no job {event.job_id!r}", event.job_id)
        had = self._tables.arrivals[event.job_id]
        same = next((one.sha256 for one in had if one.event.seq == event.seq), None)
        end = next((one.event.seq for one in had if one.event.type.terminal), None)
        reception = once.reception(event, sha256, same, end)
        if reception is Reception.STORED:
            had.append(Arrival(replace(event, payload=kept(event.payload)), sha256, at))
            self._feed.publish((job_topic(event.job_id),))
        return reception

    async def arrivals(self, job_id: str, after: int = -1) -> list[Arrival]:
        found = [one for one in self._tables.arrivals.get(job_id, ()) if one.event.seq > after]
        return sorted(found, key=lambda one: one.event.seq)

    async def standing(self, job_id: str) -> Standing:
        events = [one.event for one in await self.arrivals(job_id)]
        end = next((event for event in events if event.type.terminal), None)
        return Standing(len(events), events[-1].seq if events else -1, end)
