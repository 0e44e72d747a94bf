"""Kills of the broker while many jobs tell their events, and what is there afterwards."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field

from messaging import JobEvent
from messaging.sinks import NatsSink, NatsTarget
from messaging.sources import await_job, nats_events
from tests.integration._nats_server import NatsServer
from tests.messaging._events import story


@dataclass
class Outcome:
    """`problems` is empty when nothing was lost, doubled or out of order."""

    events: int = 0
    kills: int = 0
    took_s: float = 0.0
    problems: list[str] = field(default_factory=list)


class _Progress:
    """How many events are out; whoever waits for a number is told."""

    def __init__(self) -> None:
        self.count = 0
        self._changed = asyncio.Condition()

    async def step(self) -> None:
        async with self._changed:
            self.count += 1
            self._changed.notify_all()

    async def reaches(self, count: int) -> None:
        async with self._changed:
            await self._changed.wait_for(lambda: self.count >= count)


async def chaos(server: NatsServer, *, jobs: int, events: int, kills: int) -> Outcome:
    """Emits `events` of `jobs` side by side; kills the broker `kills` times, evenly spread over them."""
    outcome, progress, began_s = Outcome(), _Progress(), time.monotonic()
    stories = {f"job-{number}": story(events // jobs, f"job-{number}") for number in range(jobs)}
    killing = asyncio.create_task(_kill(server, progress, events, kills, outcome))
    live = asyncio.create_task(_read(server, "job-0"))
    await asyncio.gather(*(_emit(server, told, progress) for told in stories.values()))
    await killing
    outcome.problems += _compare("live job-0", await live, stories["job-0"])
    for job_id, told in stories.items():
        outcome.problems += _compare(job_id, await _read(server, job_id), told)
    outcome.events, outcome.took_s = progress.count, time.monotonic() - began_s
    return outcome


async def _kill(server: NatsServer, progress: _Progress, events: int, kills: int, outcome: Outcome) -> None:
    for number in range(1, kills + 1):
        await progress.reaches(events * number // (kills + 1))
        await asyncio.to_thread(server.kill)
        await asyncio.sleep(0.1)
        await asyncio.to_thread(server.start)
        outcome.kills += 1


async def _emit(server: NatsServer, told: list[JobEvent], progress: _Progress) -> None:
    sink = NatsSink(NatsTarget(url=server.url, job_id=told[0].job_id, patience_s=120))
    for one in told:
        await sink.emit(one)
        await progress.step()
    await sink.close()


async def _read(server: NatsServer, job_id: str) -> list[JobEvent]:
    history = await await_job(nats_events(server.url, job_id), job_id, timeout_s=120)
    return list(history.events) if not history.incomplete else []


def _compare(name: str, found: list[JobEvent], told: list[JobEvent]) -> list[str]:
    if found == told:
        return []
    return [f"{name}: told {len(told)} events, read {[one.seq for one in found]}"]
