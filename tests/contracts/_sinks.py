"""Every sink of ours, each with a way to read what arrived where it leads."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from messaging import JobEvent, Sink, decode_event
from messaging.sinks import (
    Callback,
    CallbackSink,
    EventsSink,
    FileSink,
    NatsSink,
    NatsTarget,
    Spool,
    SpoolingSink,
)
from messaging.sources import await_job, nats_events, read_lines
from tests.integration._nats_server import nats_server
from tests.integration._receiver import Receiver
from tests.patience import PATIENCE_S


@dataclass(frozen=True, slots=True)
class Place:
    """A sink, and what has arrived where it leads."""

    sink: Sink
    arrived: Callable[[], Awaitable[list[JobEvent]]]


@asynccontextmanager
async def place(kind: str, folder: Path) -> AsyncIterator[Place]:
    async with PLACES[kind](folder) as made:
        yield made
        await made.sink.close()


@asynccontextmanager
async def _events(folder: Path) -> AsyncIterator[Place]:
    path = folder / "out"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT)
    try:
        yield Place(EventsSink(descriptor), lambda: _lines(path))
    finally:
        os.close(descriptor)


@asynccontextmanager
async def _file(folder: Path) -> AsyncIterator[Place]:
    path = folder / "events.ndjson"
    yield Place(FileSink(path), lambda: _lines(path))


@asynccontextmanager
async def _callback(_: Path) -> AsyncIterator[Place]:
    with Receiver() as receiver:
        sink = CallbackSink(Callback(url=receiver.url))
        yield Place(sink, lambda: _received(receiver))


@asynccontextmanager
async def _spooling(folder: Path) -> AsyncIterator[Place]:
    async with _callback(folder) as inner:
        yield Place(SpoolingSink(inner.sink, Spool(folder / "spool")), inner.arrived)


@asynccontextmanager
async def _nats(folder: Path) -> AsyncIterator[Place]:
    with nats_server(folder) as server:
        yield Place(NatsSink(NatsTarget(url=server.url, job_id="job-1")), lambda: _stored(server.url))


async def _lines(path: Path) -> list[JobEvent]:
    return list(read_lines(await asyncio.to_thread(path.read_bytes)))


async def _received(receiver: Receiver) -> list[JobEvent]:
    return [decode_event(request.body) for request in receiver.requests]


async def _stored(url: str) -> list[JobEvent]:
    return list((await await_job(nats_events(url, "job-1"), "job-1", timeout_s=PATIENCE_S)).events)


PLACES = {"events": _events, "file": _file, "callback": _callback, "nats": _nats, "spooling": _spooling}
