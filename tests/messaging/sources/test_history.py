"""A job awaited, whatever its events come from (M-55, M-56, M-62)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from messaging import EventType, JobEvent
from messaging.sinks import FileSink
from messaging.sources import JobTimedOut, await_job, file_events, in_order
from tests.messaging._events import event, story
from tests.patience import PATIENCE_S


async def source(events: list[JobEvent], *, stays_open: bool = False) -> AsyncIterator[JobEvent]:
    for one in events:
        yield one
    if stays_open:
        await asyncio.Event().wait()


async def test_waiting_ends_with_the_terminal_event() -> None:  # M-56
    told: list[int] = []
    history = await await_job(
        source(story(4), stays_open=True),
        "job-1",
        timeout_s=PATIENCE_S,
        on_event=lambda one: told.append(one.seq),
    )
    assert list(history.events) == story(4)
    assert told == [0, 1, 2, 3]
    assert history.end == story(4)[-1]
    assert not history.incomplete


async def test_waiting_has_a_limit_and_says_what_came_until_then() -> None:  # M-56
    with pytest.raises(JobTimedOut, match=r"within 0.05 s; 2 events came") as raised:
        await await_job(source(story(4)[:2], stays_open=True), "job-1", timeout_s=0.05)
    assert list(raised.value.events) == story(4)[:2]


async def test_doubled_and_mixed_up_events_come_out_right() -> None:  # M-62
    told = story(4)
    mixed = [
        told[1],
        event(0, EventType.ACCEPTED, job_id="another"),
        told[0],
        told[1],
        told[3],
        told[3],
        told[2],
    ]
    assert list((await await_job(source(mixed), "job-1")).events) == told


async def test_a_source_that_ends_early_gives_what_there_was() -> None:  # M-16
    told = story(4)
    history = await await_job(source([told[0], told[2]]), "job-1")
    assert (list(history.events), history.end, history.incomplete) == ([told[0], told[2]], None, True)


async def test_an_event_that_never_comes_is_given_up_on() -> None:  # M-55
    told, now = story(4), [0.0]

    def later() -> float:
        now[0] += 20.0
        return now[0]

    arrived = [
        one async for one in in_order(source([told[0], told[3]], stays_open=True), "job-1", None, later)
    ]
    assert arrived == [told[0], told[3]]


async def test_a_file_is_followed_from_its_beginning_while_it_grows(tmp_path: Path) -> None:  # M-24, M-56
    path, told = tmp_path / "events", story(6)
    waiting = asyncio.create_task(await_job(file_events(path), "job-1", timeout_s=PATIENCE_S))
    await asyncio.sleep(0)
    sink = FileSink(path)
    for one in (*story(2, "another"), *told[:3]):
        await sink.emit(one)
    with path.open("ab") as torn:  # another writer, half-way through its line
        torn.write(told[3].encode()[:20])
        torn.flush()
        await asyncio.sleep(0.15)
        torn.write(told[3].encode()[20:] + b"\n")
    for one in told[4:]:
        await sink.emit(one)
    await sink.close()
    assert list((await waiting).events) == told
