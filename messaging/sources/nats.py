"""Events out of a NATS stream: those of the past, then those that come (M-62 to M-64)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from typing import TYPE_CHECKING, Final

from messaging.events import JobEvent
from messaging.sinks.nats_connection import connect, disconnect, events_subject
from messaging.sources.lines import read_line

if TYPE_CHECKING:
    from nats.js.client import JetStreamContext

_BATCH: Final = 256
# One question to the broker waits so long for news.
_WAIT_S: Final = 2.0
# After a question that was not answered: the broker is restarting.
_PAUSE_S: Final = 0.2
# A reader that has gone is forgotten by the broker after this.
_FORGOTTEN_S: Final = 60.0


async def nats_events(
    url: str, job_id: str, *, stream: str = "JOBS", patience_s: float = 30.0
) -> AsyncGenerator[JobEvent, None]:
    """All events of the job from its first on, also of one that ended long ago. Never ends by itself.

    Where the broker restarts, reading goes on behind the last message that was had. An event may come
    twice; `in_order` drops the second. Raises `SinkBroken` when no server answers within `patience_s`.
    """
    client = await connect(url, patience_s)
    try:
        behind = 0
        async for number, content in _messages(client.jetstream(), events_subject(job_id), stream):
            if number > behind and (event := read_line(content)) is not None:
                behind = number
                yield event
    finally:
        await disconnect(client)


async def _messages(context: JetStreamContext, subject: str, stream: str) -> AsyncIterator[tuple[int, bytes]]:
    """Stream number and content of each message, over restarts and lost consumers."""
    import nats

    behind = 0
    while True:
        try:
            async for number, content in _one_consumer(context, subject, stream, behind):
                behind = number
                yield number, content
        except (nats.errors.Error, OSError, TimeoutError):
            await asyncio.sleep(_PAUSE_S)


async def _one_consumer(
    context: JetStreamContext, subject: str, stream: str, behind: int
) -> AsyncIterator[tuple[int, bytes]]:
    """Reads with a consumer that the broker keeps in memory; it is gone after a restart."""
    import nats
    from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy

    config = ConsumerConfig(
        deliver_policy=DeliverPolicy.BY_START_SEQUENCE,
        opt_start_seq=behind + 1,
        ack_policy=AckPolicy.NONE,
        inactive_threshold=_FORGOTTEN_S,
    )
    reader = await context.pull_subscribe(subject, stream=stream, config=config)
    while True:
        try:
            messages = await reader.fetch(_BATCH, timeout=_WAIT_S)
        except nats.errors.TimeoutError:
            await reader.consumer_info()  # raises where the broker has forgotten us
            continue
        for message in messages:
            yield message.metadata.sequence.stream, message.data
