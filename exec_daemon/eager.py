"""A coroutine that begins at once, and becomes a task only where it has to wait.

Most answers wait for nothing. A task for such a one is made, put into the loop's queue, found there with the
next turn, after another look at all sockets, and thrown away.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextvars import copy_context
from typing import Any


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
        return self._coroutine.throw(*raised)

    def close(self) -> None:
        self._coroutine.close()

    def __await__(self) -> Any:
        return self


def begin(loop: asyncio.AbstractEventLoop, coroutine: Coroutine[Any, Any, None]) -> asyncio.Task[None] | None:
    """Runs it as far as it comes; the task that does the rest, None where there is none.

    Up to its first wait it is in no task: it must not ask for the present one, as `asyncio.timeout` does.
    """
    context = copy_context()
    try:
        waits_for = context.run(coroutine.send, None)
    except StopIteration:
        return None
    return loop.create_task(_Begun(coroutine, waits_for), context=context)
