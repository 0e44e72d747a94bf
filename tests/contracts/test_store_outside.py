"""Jobs that run elsewhere and tell their events by callback (M-53, M-54): what any store promises."""

from __future__ import annotations

import pytest

from exec_daemon.store import (
    Arrival,
    Exists,
    New,
    NoSuchJob,
    OutsideJob,
    Reception,
    Standing,
    Store,
    job_topic,
)
from messaging import EventType
from tests.contracts.samples import at, job
from tests.messaging._events import event, story
from tests.patience import PATIENCE_S

A, B = "a" * 64, "b" * 64


async def test_an_expected_job_is_known(store: Store) -> None:
    made = await store.expect("job-x", "operator/local")
    assert made == OutsideJob(id="job-x", identity="operator/local", created_at=at(0))
    assert await store.outside_job("job-x") == made
    assert await store.outside_job("job-y") is None
    assert await store.arrivals("job-x") == []


async def test_expected_jobs_are_listed_the_newest_first(store: Store) -> None:
    for name in ("c", "a", "b"):
        await store.expect(name, "operator/local")
    assert [one.id for one in await store.outside_jobs()] == ["b", "a", "c"]
    assert [one.id for one in await store.outside_jobs(limit=2)] == ["b", "a"]


async def test_no_two_jobs_have_one_id(store: Store) -> None:
    await store.expect("job-x", "operator/local")
    begun = await store.begin(job())
    assert isinstance(begun, New)
    for taken in ("job-x", begun.job.id):
        with pytest.raises(Exists):
            await store.expect(taken, "operator/local")


async def test_events_are_kept_by_number_in_whatever_order_they_come(store: Store) -> None:  # M-54
    await store.expect("job-1", "operator/local")
    told = story(3)
    for one in (told[2], told[0], told[1]):
        assert await store.receive(one, A) is Reception.STORED
    assert [arrival.event for arrival in await store.arrivals("job-1")] == told
    assert (await store.arrivals("job-1"))[2] == Arrival(told[2], A, at(1))
    assert [arrival.event for arrival in await store.arrivals("job-1", after=0)] == told[1:]


async def test_how_far_a_job_has_come_is_known(store: Store) -> None:  # M-55
    await store.expect("job-1", "operator/local")
    assert await store.standing("job-1") == Standing(0, -1, None)
    told = story(3)
    for count, one, gap in ((1, told[2], True), (2, told[0], True), (3, told[1], False)):
        await store.receive(one, A)
        standing = await store.standing("job-1")
        assert standing == Standing(count, 2, told[2])
        assert standing.has_gap == gap


async def test_the_same_again_has_no_second_effect_and_another_body_is_a_conflict(
    store: Store,
) -> None:  # M-53
    await store.expect("job-1", "operator/local")
    assert await store.receive(event(0, EventType.ACCEPTED), A) is Reception.STORED
    assert await store.receive(event(0, EventType.ACCEPTED), A) is Reception.REPLAYED
    assert await store.receive(event(0, EventType.WARNING), B) is Reception.CONFLICT
    assert [arrival.event.type for arrival in await store.arrivals("job-1")] == [EventType.ACCEPTED]


async def test_nothing_comes_behind_the_end_and_there_is_one_end(store: Store) -> None:  # M-11
    await store.expect("job-1", "operator/local")
    assert await store.receive(event(3, EventType.SUCCEEDED), A) is Reception.STORED
    assert await store.receive(event(4, EventType.WARNING), A) is Reception.CONFLICT
    assert await store.receive(event(2, EventType.FAILED), A) is Reception.CONFLICT
    assert await store.receive(event(2, EventType.WARNING), A) is Reception.STORED


async def test_a_job_that_nobody_expects_takes_no_event(store: Store) -> None:
    with pytest.raises(NoSuchJob):
        await store.receive(event(0, EventType.ACCEPTED), A)


async def test_who_waits_is_woken_by_an_event(store: Store) -> None:
    await store.expect("job-1", "operator/local")
    with store.subscribe(job_topic("job-1")) as changes:
        await store.receive(event(0, EventType.ACCEPTED), A)
        assert await changes.wait(PATIENCE_S)
