"""The change feed, and the end of a store: what any store promises."""

from __future__ import annotations

import asyncio

import pytest

from exec_daemon.store import (
    REPLIES,
    AppendMessage,
    New,
    Outcome,
    Store,
    StoreClosed,
    job_topic,
    thread_topic,
)
from messaging import AuthorKind, EventType
from tests.contracts.samples import job, message, thread
from tests.patience import PATIENCE_S

# Long enough for a machine under load; only a test that fails waits for it.
AT_ONCE_S = 0.01


async def test_a_waiter_is_woken_by_news_of_its_topic(store: Store) -> None:
    await store.create_thread(thread("a"))
    with store.subscribe(thread_topic("a")) as changes:
        waiting = asyncio.create_task(changes.wait(PATIENCE_S))
        await asyncio.sleep(0)
        await store.append(message("a"))
        assert await waiting


async def test_news_between_reading_and_waiting_is_not_lost(store: Store) -> None:
    await store.create_thread(thread("a"))
    with store.subscribe(thread_topic("a")) as changes:
        await store.append(message("a"))
        await store.append(message("a"))
        assert await changes.wait(PATIENCE_S)
        assert not await changes.wait(AT_ONCE_S)


async def test_each_waiter_of_a_topic_is_woken_and_one_that_left_is_not(store: Store) -> None:
    await store.create_thread(thread("a"))
    topic = thread_topic("a")
    with store.subscribe(topic) as first:
        with store.subscribe(topic) as second:
            await store.append(message("a"))
            assert await second.wait(PATIENCE_S)
        await store.append(message("a"))
        assert await first.wait(PATIENCE_S)
        assert not await second.wait(AT_ONCE_S)


async def test_other_topics_wake_nobody(store: Store) -> None:
    await store.create_thread(thread("a"))
    await store.create_thread(thread("b"))
    with store.subscribe(thread_topic("b"), REPLIES) as changes:
        await store.append(message("a", author_kind=AuthorKind.HUMAN))
        assert not await changes.wait(AT_ONCE_S)
        await store.append(message("a"))
        assert await changes.wait(PATIENCE_S)


async def test_an_append_that_was_replayed_is_no_news(store: Store) -> None:
    await store.create_thread(thread("a"))
    await store.append(message("a", key="k"))
    with store.subscribe(thread_topic("a")) as changes:
        await store.append(message("a", key="k"))
        assert not await changes.wait(AT_ONCE_S)


async def test_a_job_tells_of_its_steps_and_its_effects(store: Store) -> None:
    await store.create_thread(thread("a"))
    answer = await store.begin(job())
    assert isinstance(answer, New)
    with store.subscribe(job_topic(answer.job.id)) as steps, store.subscribe(thread_topic("a")) as messages:
        await store.add_event(answer.job.id, EventType.PROGRESS, {})
        assert await steps.wait(PATIENCE_S)
        await store.finish(answer.job.id, Outcome(), [AppendMessage(message("a"))])
        assert await steps.wait(PATIENCE_S)
        assert await messages.wait(PATIENCE_S)


async def test_an_interrupted_job_tells_of_its_end(store: Store) -> None:
    answer = await store.begin(job())
    with store.subscribe(job_topic(answer.job.id)) as steps:
        await store.interrupt_running()
        assert await steps.wait(PATIENCE_S)


async def test_a_closed_store_refuses_everything(store: Store) -> None:
    await store.create_thread(thread("a"))
    await store.close()
    await store.close()
    with pytest.raises(StoreClosed):
        await store.append(message("a"))
    with pytest.raises(StoreClosed):
        await store.thread("a")
