"""A coroutine that begins at once, and becomes a task only where it has to wait.

Most answers wait for nothing. A task for such a one is made, put into the loop's queue, found there with the
next turn, after another look at all sockets, and thrown away.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextvars import copy_context
from typing import Any, TypeVar

T = TypeVar("T")


class _Begun(Coroutine[Any, Any, Any]):
    """A coroutine that waits for the first time already."""

    __slots__ = ("_coroutine", "_waits_for")

    def __init__(self, coroutine: Coroutine[Any, Any, Any], waits_for: Any) -> None:
        self._coroutine = coroutine
        self._waits_for = waits_for

    def send(self, value: Any) -> Any:
        if self._waits_for is None:
            return self._coroutine.send(value)
        waits_for, self._waits_for = self._waits_for, None
        return waits_for

    def throw(self, *raised: Any) -> Any:
        """Cancelled before its first step: what it waits for is, as a task that waits would do it."""
        waits_for, self._waits_for = self._waits_for, None
        if waits_for is not None and isinstance(raised[0], asyncio.CancelledError) and waits_for.cancel():
            return waits_for
        return self._coroutine.throw(*raised)

    def close(self) -> None:
        self._coroutine.close()

    def __await__(self) -> Any:
        return self


def begun(loop: asyncio.AbstractEventLoop, coroutine: Coroutine[Any, Any, Any]) -> asyncio.Task[Any] | None:
    """As `started`, where nobody asks for the result: None where it has come to its end already.

    What it raises before its first wait is raised here.
    """
    context = copy_context()
    try:
        waits_for = context.run(coroutine.send, None)
    except StopIteration:
        return None
    return loop.create_task(_Begun(coroutine, waits_for), context=context)


def started(loop: asyncio.AbstractEventLoop, coroutine: Coroutine[Any, Any, T]) -> asyncio.Future[T]:
    """Runs it as far as it comes. A future that is done where that is to its end, else the task of the rest.

    Up to its first wait it is in no task of its own: it must not ask for the present one, as
    `asyncio.timeout` does, and `asyncio.wait_for` from Python 3.12 on.
    """
    context = copy_context()
    try:
        waits_for = context.run(coroutine.send, None)
    except StopIteration as ended:
        future: asyncio.Future[T] = loop.create_future()
        future.set_result(ended.value)
    except asyncio.CancelledError:
        future = loop.create_future()
        future.cancel()
    except Exception as raised:  # noqa: BLE001 - whatever it is, it belongs to who asks for the result
        future = loop.create_future()
        future.set_exception(raised)
    else:
        return loop.create_task(_Begun(coroutine, waits_for), context=context)
    return future
