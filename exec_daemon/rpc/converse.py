"""One connection, whatever carries it: bytes of requests in, lines of answers and events out.

Requests of one connection are taken in order, one at a time; several connections go on side by side. When
the client has said everything, what it asked is answered, and the connection ends.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass

from exec_daemon.access.tokens import Asker
from exec_daemon.rpc.desk import Desk
from exec_daemon.rpc.outbox import Outbox
from messaging.rpc import Codec, Rejected, Request, RpcCode, failure, rpc_error

Chunks = AsyncIterator[bytes]


async def always() -> bool:
    """For a client whose identity cannot end while it is connected."""
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """Who is connected. `still_valid` is asked again and again: a token can be revoked meanwhile."""

    asker: Asker
    still_valid: Callable[[], Awaitable[bool]] = always


async def converse(
    desk: Desk, client: Client, chunks: Chunks, *, keep_alive_s: float
) -> AsyncGenerator[bytes]:
    """The lines for the client. `chunks` ends when the client has left or said everything."""
    outbox = Outbox((await desk.runtime(client.asker.identity)).log)
    reading = asyncio.create_task(_read(desk, client, chunks, outbox))
    try:
        with desk.connections.open(outbox):
            async with aclosing(outbox.lines(keep_alive_s, client.still_valid)) as lines:
                async for line in lines:
                    yield line
    finally:
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)


async def _read(desk: Desk, client: Client, chunks: Chunks, outbox: Outbox) -> None:
    codec = Codec()
    try:
        async for chunk in chunks:
            for one in codec.feed(chunk):
                await _take(desk, client, one, outbox)
        for one in codec.close():
            await _take(desk, client, one, outbox)
    finally:
        outbox.end()


async def _take(desk: Desk, client: Client, one: Request | Rejected, outbox: Outbox) -> None:
    await outbox.room()
    if isinstance(one, Rejected):
        outbox.answer(failure(one.id, one.error))
    elif await client.still_valid():
        await desk.answer(client.asker, one, outbox.answer)
    else:
        text = "The token is expired or revoked. `box token create` makes a new one."
        outbox.answer(failure(one.id, rpc_error(RpcCode.UNAUTHENTICATED, text)))
