"""Events a second through each sink, beside the same work without it: `./box bench messaging [EVENTS]`.

The peer of each row does what nobody can do without: it serialises a dict and hands the bytes over in the
same way. What the row is slower by is what numbering, order, redaction and typed events cost.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import secrets
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import httpx2

from messaging import JobEmitter, Sink
from messaging.sinks import (
    Callback,
    CallbackSink,
    EventsSink,
    FileSink,
    NatsSink,
    NatsTarget,
)
from messaging.sinks.tool import utc_now
from tests.integration._nats_server import nats_server
from tests.integration._receiver import Receiver

SECRET = secrets.token_hex()
MESSAGE = "fetched https://a.example/recipes/42, 18,224 bytes of HTML, in 0.41 s"
# The network's sinks wait for an answer to each event; so many show what that costs.
NETWORK_SHARE = 10
ROUNDS = 9

Hand = Callable[[bytes], Awaitable[object]]


class Row(NamedTuple):
    """A sink, how its peer hands bytes over, and how many events are worth trying."""

    name: str
    sink: Sink
    hand: Hand
    events: int


def document(seq: int) -> bytes:
    body = {"job_id": "job-1", "seq": seq, "ts": utc_now(), "type": "progress", "stage": "extract"}
    return json.dumps(body | {"message": MESSAGE}, separators=(",", ":")).encode()


async def by_hand(hand: Hand, events: int) -> float:
    began_s = time.perf_counter()
    for seq in range(events):
        await hand(document(seq))
    return events / (time.perf_counter() - began_s)


async def by_sink(sink: Sink, events: int) -> float:
    # Another job each time: a broker stores an event that it knows already at no cost.
    job: JobEmitter[Any, Any, Any] = JobEmitter(f"job-{secrets.token_hex(4)}", sink, clock=utc_now)
    await job.accepted("https://a.example/recipes/42")
    began_s = time.perf_counter()
    for _ in range(events):
        await job.progress("extract", message=MESSAGE)
    return events / (time.perf_counter() - began_s)


def writing(descriptor: int) -> Hand:
    async def hand(content: bytes) -> None:
        os.write(descriptor, content + b"\n")

    return hand


@asynccontextmanager
async def rows(folder: Path, events: int) -> AsyncIterator[list[Row]]:
    null = os.open(os.devnull, os.O_WRONLY)
    raw = os.open(folder / "raw", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    few = max(10, events // NETWORK_SHARE)
    with Receiver() as receiver, nats_server(folder) as server:
        async with httpx2.AsyncClient(trust_env=False) as client, _publisher(server.url) as publish:
            yield [
                Row("events (to /dev/null)", EventsSink(null), writing(null), events),
                Row("file", FileSink(folder / "events"), writing(raw), events),
                Row(
                    "callback, signed",
                    CallbackSink(Callback(url=receiver.url, secret=SECRET)),
                    lambda content: client.post(receiver.url, content=content),
                    few,
                ),
                Row("nats, acknowledged", NatsSink(NatsTarget(url=server.url, job_id="job-1")), publish, few),
            ]
    os.close(null)
    os.close(raw)


@asynccontextmanager
async def _publisher(url: str) -> AsyncIterator[Hand]:
    import nats

    client = await nats.connect(url)
    context = client.jetstream()
    await context.add_stream(name="RAW", subjects=["raw"])
    yield lambda content: context.publish("raw", content)
    await client.close()


async def measure(events: int) -> None:
    print(f"{'sink':<24}{'by hand /s':>14}{'emitter /s':>14}{'ratio':>8}{'µs more':>10}")
    with tempfile.TemporaryDirectory() as folder:
        async with rows(Path(folder), events // ROUNDS) as table:
            for row in table:
                pairs = [
                    (await by_hand(row.hand, row.events), await by_sink(row.sink, row.events))
                    for _ in range(ROUNDS)
                ]
                await row.sink.close()
                show(row.name, pairs)


def show(name: str, pairs: list[tuple[float, float]]) -> None:
    """Ratios are taken within a round: the speed of a machine that others use wanders."""
    hand, sink = (median(rates) for rates in zip(*pairs, strict=True))
    ratio = median([one / other for one, other in pairs])
    more_us = median([1e6 / other - 1e6 / one for one, other in pairs])
    print(f"{name:<24}{hand:>14,.0f}{sink:>14,.0f}{ratio:>7.2f}x{more_us:>10.1f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("events", nargs="?", type=int, default=40_000, help="for each sink of this machine")
    asyncio.run(measure(parser.parse_args().events))


if __name__ == "__main__":
    main()
