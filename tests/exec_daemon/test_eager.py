"""What begins at once ends as it would in a task."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar

import pytest

from exec_daemon import eager
from tests.patience import AGES_S

WORD: ContextVar[str] = ContextVar("word", default="")


def begun(coroutine: object) -> asyncio.Future[object]:
    return eager.started(asyncio.get_running_loop(), coroutine)  # type: ignore[arg-type]


async def test_what_waits_for_nothing_has_ended_and_is_no_task() -> None:
    async def run() -> str:
        return "done"

    future = begun(run())
    assert future.done()
    assert not isinstance(future, asyncio.Task)
    assert await future == "done"


async def test_what_waits_goes_on_as_a_task() -> None:
    go, steps = asyncio.Event(), list[str]()

    async def run() -> str:
        steps.append("began")
        await go.wait()
        await asyncio.sleep(0)
        steps.append("went on")
        async with asyncio.timeout(5):
            await asyncio.sleep(0)
        return "done"

    future = begun(run())
    assert isinstance(future, asyncio.Task)
    assert steps == ["began"]
    go.set()
    assert await future == "done"
    assert steps == ["began", "went on"]


@pytest.mark.parametrize("waits", [False, True])
async def test_what_it_raises_is_raised_for_who_waits(waits: bool) -> None:
    async def run() -> None:
        if waits:
            await asyncio.sleep(0)
        raise LookupError

    with pytest.raises(LookupError):
        await begun(run())


@pytest.mark.parametrize("turns", [0, 1])
async def test_it_can_be_cancelled_while_it_waits_and_cleans_up(turns: int) -> None:
    cleaned = []

    async def run() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            cleaned.append("up")

    future = begun(run())
    for _ in range(turns):
        await asyncio.sleep(0)
    future.cancel()
    with pytest.raises(asyncio.CancelledError):
        await future
    assert cleaned == ["up"]


@pytest.mark.parametrize("turns", [0, 1])
async def test_what_it_waits_for_is_cancelled_with_it(turns: int) -> None:
    ended = []

    async def inner() -> None:
        try:
            await asyncio.sleep(AGES_S)
        finally:
            ended.append("inner")

    async def run() -> None:
        try:
            await asyncio.create_task(inner())
        finally:
            ended.append("outer")

    future = begun(run())
    for _ in range(turns):
        await asyncio.sleep(0)
    future.cancel()
    with pytest.raises(asyncio.CancelledError):
        await future
    assert ended == ["inner", "outer"]


async def test_one_that_waits_for_what_has_ended_is_cancelled_all_the_same() -> None:
    loop = asyncio.get_running_loop()
    over: asyncio.Future[None] = loop.create_future()

    async def run() -> None:
        await over

    future = begun(run())
    over.set_result(None)
    future.cancel()
    with pytest.raises(asyncio.CancelledError):
        await future


async def test_one_that_cancels_itself_is_cancelled() -> None:
    async def run() -> None:
        raise asyncio.CancelledError

    assert begun(run()).cancelled()


async def test_it_has_a_context_of_its_own_from_its_first_step_to_its_last() -> None:
    async def run() -> str:
        token = WORD.set("inside")
        await asyncio.sleep(0)
        found = WORD.get()
        WORD.reset(token)
        return found

    assert await begun(run()) == "inside"
    assert WORD.get() == ""


async def test_one_that_is_never_awaited_to_its_end_is_closed_with_its_task() -> None:
    closed = []

    async def run() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            closed.append("yes")

    future = begun(run())
    assert isinstance(future, asyncio.Task)
    coroutine = future.get_coro()
    assert coroutine is not None
    coroutine.close()
    assert closed == ["yes"]
    future.cancel()
    await asyncio.gather(future, return_exceptions=True)


async def test_of_what_nobody_waits_for_only_the_rest_is_a_task() -> None:
    loop, words = asyncio.get_running_loop(), list[str]()

    async def run(waits: bool) -> None:
        WORD.set("inside")
        if waits:
            await asyncio.sleep(0)
        words.append(WORD.get())

    assert eager.begun(loop, run(waits=False)) is None
    assert words == ["inside"]
    rest = eager.begun(loop, run(waits=True))
    assert rest is not None
    await rest
    assert words == ["inside", "inside"]
    assert WORD.get() == ""


async def test_what_it_raises_before_it_waits_is_raised_at_once() -> None:
    async def run() -> None:
        raise LookupError

    with pytest.raises(LookupError):
        eager.begun(asyncio.get_running_loop(), run())
