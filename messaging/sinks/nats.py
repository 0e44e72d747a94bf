"""`nats`: events on a JetStream stream, each acknowledged by the broker (M-60 to M-64, M-67, M-69)."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from messaging.events import JobEvent
from messaging.sinks.errors import SinkBroken, SinkClosed, Undelivered
from messaging.sinks.nats_connection import connect, disconnect, events_subject
from messaging.sinks.nats_control import Cancel, listen

if TYPE_CHECKING:
    from nats.aio.client import Client

# The broker's acknowledgement means that the event is on its disk, which takes milliseconds.
_ACK_S: Final = 2.0
_FIRST_PAUSE_S: Final = 0.1
_LONGEST_PAUSE_S: Final = 2.0
# Every event of every job, whoever publishes it.
_STREAM_SUBJECTS: Final = ["jobs.*.events"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NatsTarget:
    """Where events go. A `subject` of one's own (M-69) that no stream covers is published without a store.

    `patience_s`: so long an event is tried anew; a broker that restarts is back by then.
    """

    url: str
    job_id: str
    subject: str | None = None
    stream: str = "JOBS"
    patience_s: float = 30.0


class NatsSink:
    """Connects at the first event, and again by itself after a loss. `close` drains the connection.

    `Nats-Msg-Id` is the key of the event: one that is sent twice because an acknowledgement was lost is
    stored once.
    """

    def __init__(
        self,
        target: NatsTarget,
        *,
        uniform: Callable[[float, float], float] = random.uniform,
        monotonic_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._target = target
        self._subject = target.subject or events_subject(target.job_id)
        self._uniform = uniform
        self._monotonic_s = monotonic_s
        self._one_at_a_time = asyncio.Lock()
        self._connecting = asyncio.Lock()
        self._client: Client | None = None
        # Who gave a subject may have no stream for it; found out at the first event.
        self._stored = None if target.subject else True
        self._closed = False

    async def emit(self, event: JobEvent) -> None:
        """Returns once the broker has stored the event; raises `Undelivered`."""
        async with self._one_at_a_time:
            if self._closed:
                raise SinkClosed("the sink is closed")
            await self._deliver(event)

    async def listen(self, cancel: Cancel) -> None:
        """From now on the job can be told to stop (M-65). Raises `SinkBroken` when no server answers."""
        await listen(await self._connection(), self._target.job_id, cancel)

    async def _connection(self) -> Client:
        async with self._connecting:
            if self._client is None:
                self._client = await connect(self._target.url, self._target.patience_s)
            return self._client

    async def close(self) -> None:
        async with self._one_at_a_time:
            client, self._client, self._closed = self._client, None, True
            if client is not None and client.is_connected:
                await client.drain()
            if client is not None:
                await disconnect(client)

    async def _deliver(self, event: JobEvent) -> None:
        until_s, attempts = self._monotonic_s() + self._target.patience_s, 0
        while True:
            attempts += 1
            problem = await self._attempt(event)
            if problem is None:
                return
            pause_s = self._uniform(0.0, min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2 ** min(attempts, 8)))
            if self._monotonic_s() + pause_s > until_s:
                raise Undelivered(event.key, attempts, problem)
            await asyncio.sleep(pause_s)

    async def _attempt(self, event: JobEvent) -> str | None:
        """None when the broker has the event, else what was wrong."""
        try:
            client = await self._connection()
        except SinkBroken as broken:
            return str(broken)
        import nats

        try:
            await self._publish(client, event)
        except nats.js.errors.NoStreamResponseError:
            return await self._prepare(client)
        except (nats.errors.Error, OSError, TimeoutError) as failure:
            return type(failure).__name__
        return None

    async def _publish(self, client: Client, event: JobEvent) -> None:
        headers = {"Nats-Msg-Id": event.key}
        if self._stored is None:
            self._stored = await self._has_stream(client)
        if not self._stored:
            await client.publish(self._subject, event.encode(), headers=headers)
            await client.flush(timeout=int(_ACK_S))
            return
        # An acknowledgement that says `duplicate` is as good as any (M-61).
        await client.jetstream().publish(self._subject, event.encode(), timeout=_ACK_S, headers=headers)

    async def _has_stream(self, client: Client) -> bool:
        from nats.js.errors import NotFoundError, ServiceUnavailableError

        try:
            await client.jetstream().find_stream_name_by_subject(self._subject)
        except (NotFoundError, ServiceUnavailableError):
            return self._subject == events_subject(self._target.job_id)
        return True

    async def _prepare(self, client: Client) -> str:
        """No stream takes our subject yet: makes it."""
        import nats
        from nats.js.api import StorageType, StreamConfig

        wanted = StreamConfig(name=self._target.stream, subjects=_STREAM_SUBJECTS, storage=StorageType.FILE)
        try:
            await client.jetstream().add_stream(wanted)
        except (nats.errors.Error, OSError, TimeoutError) as failure:
            return f"the stream {self._target.stream} cannot be made ({failure})"
        return "the stream has just been made"
