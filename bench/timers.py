"""What timers cost and how late they are: `./box bench timers [--timers N] [--spread S] [--idle S]`.

The scheduler and the store on disk as the daemon has them, with N timers (10,000):

    idle      nothing is due: processor time of the process, as a share of one core
    spread    each is due once within S seconds: how late its message is in the store, and the share of a core
    at once   all are due at the same instant, the worst there is

Lateness is from the time that a timer was due to the time that its message bears; the commit follows within
milliseconds. `--folder` has to be on a disk.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import sqlite3
import tempfile
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median, quantiles
from typing import NamedTuple

from exec_daemon.calls.registry import registry
from exec_daemon.ops import ALLOWLIST
from exec_daemon.store import Agent, Store, open_store, random_id, utc_now
from exec_daemon.store.timer_port import TIMERS
from exec_daemon.store.timer_values import Timer, TimerState, TimerStep
from exec_daemon.timers.plan import Plan, timing_fields
from exec_daemon.timers.reading import read_schedule
from exec_daemon.timers.rules import upcoming
from exec_daemon.timers.scheduler import Scheduler
from messaging import OpInfo

OPS = registry(ALLOWLIST).infos
# Timers that are made at once; the store commits them together.
GROUP = 500
# Long enough for all timers to be made before the first one is due.
AHEAD_S = 15
LATENESS = """
SELECT timer_runs.due, messages.created_at FROM timer_runs JOIN messages ON messages.id = timer_runs.message
"""


class Late(NamedTuple):
    """Milliseconds."""

    runs: int
    p50: float
    p99: float
    most: float


async def ops_for(_agent: str) -> Sequence[OpInfo]:
    return OPS


def timer(number: int, written: str) -> Timer:
    now = datetime.now(UTC)
    plan = Plan(
        tz="UTC", prompt="Look.", **timing_fields(read_schedule(written, None, tz="UTC", now=now), written)
    )
    made = Timer(
        id=f"tmr-{number}",
        name=f"timer {number}",
        created_by="operator/local",
        agent=f"heron{number % 100}",
        plan=plan.to_json(),
        state=TimerState.ACTIVE,
        created_at=utc_now(),
        updated_at=utc_now(),
    )
    return upcoming(made, plan, now)


async def make(store: Store, written: Sequence[str]) -> None:
    for number in range(100):
        await store.add_agent(Agent(name=f"heron{number}", thread=f"heron{number}"))
    steps = [TimerStep(timer=timer(number, text), was=None) for number, text in enumerate(written)]
    for first in range(0, len(steps), GROUP):
        await asyncio.gather(*(store.step_timer(step) for step in steps[first : first + GROUP]))


@asynccontextmanager
async def scheduling(store: Store) -> AsyncIterator[None]:
    scheduler = Scheduler(store, utc_now, random_id, ops_for, lambda _: True)
    task = asyncio.create_task(scheduler.run())
    try:
        yield
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


def lateness(path: Path) -> Late:
    with contextlib.closing(sqlite3.connect(path)) as db:
        rows = db.execute(LATENESS).fetchall()
    late = [
        (datetime.fromisoformat(at) - datetime.fromisoformat(due)).total_seconds() * 1000 for due, at in rows
    ]
    return Late(len(late), median(late), quantiles(late, n=100)[98], max(late))


async def idle(path: Path, count: int, seconds: float) -> float:
    """The share of a core."""
    store = await open_store(path)
    await make(store, [f"{90 + number % 60}m" for number in range(count)])
    async with scheduling(store):
        await asyncio.sleep(1)
        began, cpu = time.monotonic(), time.process_time()
        await asyncio.sleep(seconds)
        share = (time.process_time() - cpu) / (time.monotonic() - began)
    await store.close()
    return share


async def firing(path: Path, count: int, spread_s: float) -> tuple[Late, float, float]:
    """Lateness, the share of a core, and the seconds from the first due time to the last message."""
    store = await open_store(path)
    first = datetime.now(UTC) + timedelta(seconds=AHEAD_S)
    due = [first + timedelta(seconds=spread_s * number / count) for number in range(count)]
    await make(store, [one.isoformat(timespec="milliseconds") for one in due])
    async with scheduling(store):
        await asyncio.sleep(max(0.0, (first - datetime.now(UTC)).total_seconds()))
        began, cpu = time.monotonic(), time.process_time()
        with store.subscribe(TIMERS) as changes:
            while await store.last_position() < count:
                await changes.wait(1)
        took_s, used_s = time.monotonic() - began, time.process_time() - cpu
    await store.close()
    return lateness(path), used_s / took_s, took_s


async def main() -> None:
    wanted = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    wanted.add_argument("--timers", type=int, default=10_000)
    wanted.add_argument("--spread", type=float, default=60.0)
    wanted.add_argument("--idle", type=float, default=20.0)
    wanted.add_argument("--folder", type=Path, default=Path())
    chosen = wanted.parse_args()
    with tempfile.TemporaryDirectory(prefix="timers-", dir=chosen.folder) as folder:
        share = await idle(Path(folder) / "idle.db", chosen.timers, chosen.idle)
        print(f"{chosen.timers} timers, idle for {chosen.idle:.0f} s: {share:.2%} of a core")
        for name, spread_s in (("spread", chosen.spread), ("at once", 0.0)):
            late, used, took_s = await firing(Path(folder) / f"{name}.db", chosen.timers, spread_s)
            print(
                f"{name}: {late.runs} runs in {took_s:.1f} s, late by {late.p50:.0f} ms at the median, "
                f"{late.p99:.0f} ms at p99, {late.most:.0f} ms at most; {used:.0%} of a core"
            )


if __name__ == "__main__":
    asyncio.run(main())
