"""`box.exec` for the daemon: reads block, so they run in threads of their own, within the asker's scope."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from exec_daemon.box import BoxContext, BoxError, Scope, read
from exec_daemon.identity import Identity
from exec_daemon.store_facts import scope_of
from messaging import CallError, ErrorCode, error

# Reads wait for programs and files most of the time; more at once would only fight for the two cores.
_THREADS: Final = 8


class BoxReads:
    """Runs reads with the context that `context` gives for a scope, each within `limit_s` seconds."""

    def __init__(self, context: Callable[[Scope], BoxContext], limit_s: float) -> None:
        self._context = context
        self._limit_s = limit_s
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="box-read")

    async def __call__(self, action: str, arg: str | int | None, identity: Identity) -> Any | CallError:
        """The reading, or why there is none."""
        loop = asyncio.get_running_loop()
        reading = loop.run_in_executor(self._threads, read, action, arg, self._context(scope_of(identity)))
        try:
            async with asyncio.timeout(self._limit_s):
                return await reading
        except TimeoutError:
            return error(ErrorCode.TIMEOUT, f"box.exec {action} did not end within {self._limit_s:g} s.")
        except BoxError as refused:
            return refused.error

    def close(self) -> None:
        """Takes no more reads; those under way end by their own limits."""
        self._threads.shutdown(wait=False, cancel_futures=True)
