"""What any sink promises (M-20, M-29)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from messaging.sinks import SinkClosed
from tests.contracts._sinks import PLACES, Place, place
from tests.messaging._events import story

STORY = story(20)


@pytest.fixture(params=PLACES)
async def led(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Place]:
    async with place(request.param, tmp_path) as made:
        yield made


async def test_what_was_emitted_arrives_unchanged_and_in_order(led: Place) -> None:  # M-20, M-29
    for one in STORY:
        await led.sink.emit(one)
    assert await led.arrived() == STORY


async def test_calls_that_overlap_keep_their_order(led: Place) -> None:  # M-29
    await asyncio.gather(*(led.sink.emit(one) for one in STORY))
    assert await led.arrived() == STORY


async def test_emitted_means_handed_off(led: Place) -> None:  # M-29
    first, *_, last = story(2)
    await led.sink.emit(first)
    await led.sink.emit(last)
    assert await led.arrived() == [first, last]  # nothing waits for `close`


async def test_closing_twice_is_closing_once_and_nothing_is_taken_afterwards(led: Place) -> None:  # M-29
    await led.sink.emit(STORY[0])
    await led.sink.close()
    await led.sink.close()
    with pytest.raises(SinkClosed):
        await led.sink.emit(STORY[1])
