"""A tool that runs as our child: its events from its stdout, its log from its stderr, its end typed.

Both pipes are always read, so that a child that talks much never stands still. A child that ends without
a terminal event, half-way through a line or by a signal, has failed (M-16).
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from messaging.events import JobEvent
from messaging.sources.history import in_order
from messaging.sources.stream import pipe_events
from messaging.tool_exit import End, settle

# M-66: a child that is told to stop gets so long to do it.
STOP_S: Final = 5.0
_LOOK_EVERY_S: Final = 0.1
# What is kept of a log: its end, where the reason stands.
_LOG_BYTES: Final = 64 * 1024
_BLOCK_BYTES: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class ChildEnd:
    """How the child ended: its events, what they and its exit come to, and the last of its stderr."""

    end: End
    events: tuple[JobEvent, ...]
    exit_code: int
    log_tail: bytes


async def run_child(
    argv: Sequence[str],
    job_id: str,
    *,
    environment: Mapping[str, str],
    clock: Callable[[], str],
    on_event: Callable[[JobEvent], object] = lambda _: None,
    stop_s: float = STOP_S,
) -> ChildEnd:
    """Runs `argv` with `BOX_TRANSPORT=events` and `BOX_JOB_ID`. Cancelled, it stops the child's group.

    Raises OSError when the program cannot be started.
    """
    child = await asyncio.create_subprocess_exec(
        *argv,
        env={**environment, "BOX_TRANSPORT": "events", "BOX_JOB_ID": job_id},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        start_new_session=True,
    )
    assert child.stdout is not None
    assert child.stderr is not None
    told = asyncio.create_task(_events(child.stdout, job_id, on_event))
    log = asyncio.create_task(_tail(child.stderr))
    try:
        exit_code = await _exit(child, told)
        events = await told
        return ChildEnd(settle(job_id, events, exit_code, clock()), events, exit_code, await log)
    finally:
        await _stop(child, stop_s)
        told.cancel()
        log.cancel()


async def _exit(child: asyncio.subprocess.Process, told: asyncio.Task[tuple[JobEvent, ...]]) -> int:
    """The exit code, as soon as there is one. What the child left running holds its pipes no longer.

    `child.wait()` would wait for those pipes too, in some versions of Python.
    """
    while child.returncode is None:
        await asyncio.wait({told}, timeout=_LOOK_EVERY_S)
        if told.done():
            await child.wait()
    _signal(child, signal.SIGKILL)
    return child.returncode


async def _events(
    stdout: asyncio.StreamReader, job_id: str, on_event: Callable[[JobEvent], object]
) -> tuple[JobEvent, ...]:
    events = []
    async for event in in_order(pipe_events(stdout), job_id):
        events.append(event)
        on_event(event)
    while await stdout.read(_BLOCK_BYTES):  # behind the terminal event: read, so that the child can end
        pass
    return tuple(events)


async def _tail(stderr: asyncio.StreamReader) -> bytes:
    """Reads everything and keeps the end."""
    tail = b""
    while block := await stderr.read(_BLOCK_BYTES):
        tail = (tail + block)[-_LOG_BYTES:]
    return tail


async def _stop(child: asyncio.subprocess.Process, stop_s: float) -> None:
    """TERM to its whole group, KILL after `stop_s`; nothing for a child that has ended."""
    if child.returncode is not None:
        return
    _signal(child, signal.SIGTERM)
    # Not `asyncio.timeout`: we are here because of a cancellation, and the first releases of Python 3.11
    # take that for the one that the time limit asked for.
    ended = asyncio.ensure_future(child.wait())
    await asyncio.wait({ended}, timeout=stop_s)
    _signal(child, signal.SIGKILL)  # it, or whatever of its group is left
    await ended


def _signal(child: asyncio.subprocess.Process, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.killpg(child.pid, number)
