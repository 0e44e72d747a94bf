"""`box.exec` for the daemon: reads block, so they run in threads of their own, within the asker's scope."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import Any, Final

from exec_daemon.access.identity import Identity
from exec_daemon.box import BoxContext, BoxError, Scope, read
from exec_daemon.store_facts import scope_of
from messaging import CallError, ErrorCode, error

# Reads wait for programs and files most of the time; more at once would only fight for the two cores.
_PLACES: Final = 8


async def in_thread(work: Callable[[], Any], when_done: Callable[[], None]) -> Any:
    """What `work` returns or raises, from a thread that cannot keep the process from ending.

    A pool's threads are waited for at exit, and a read of a dead network disk never ends. `when_done` is
    called on the event loop when the thread ends, be anyone still waiting for it or not.
    """
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[Any] = loop.create_future()

    def settle(value: Any, failed: BaseException | None) -> None:
        when_done()
        if ended.done():
            return
        if failed is None:
            ended.set_result(value)
        else:
            ended.set_exception(failed)

    def run() -> None:
        value, failed = None, None
        try:
            value = work()
        except BaseException as raised:  # noqa: BLE001 - it is raised again where the work is waited for
            failed = raised
        with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(settle, value, failed)

    threading.Thread(target=run, name="box-read", daemon=True).start()
    return await ended


class BoxReads:
    """Runs reads with the context that `context` gives for a scope, each within `limit_s` seconds.

    A read that hangs keeps its place: when all places hang, further reads end as timeouts too.
    """

    def __init__(self, context: Callable[[Scope], BoxContext], limit_s: float) -> None:
        self._context = context
        self._limit_s = limit_s
        self._places = asyncio.Semaphore(_PLACES)

    async def __call__(self, action: str, arg: str | int | None, identity: Identity) -> Any | CallError:
        """The reading, or why there is none."""
        context = self._context(scope_of(identity))
        try:
            async with asyncio.timeout(self._limit_s):
                await self._places.acquire()
                return await in_thread(lambda: read(action, arg, context), self._places.release)
        except TimeoutError:
            return error(ErrorCode.TIMEOUT, f"box.exec {action} did not end within {self._limit_s:g} s.")
        except BoxError as refused:
            return refused.error
