"""A response that holds a place of its identity while it is sent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

# One write of any size counts as sent to asyncio; of several, the second waits until the client reads.
_BLOCK_BYTES: Final = 256 * 1024


class Held(Response):
    """A response that holds its place until the last byte of it is sent or its client has left."""

    def __init__(self, held: Response, free: Callable[[], None]) -> None:
        self._held = held
        self._free = free
        self.status_code = held.status_code
        self.background = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def in_blocks(message: Message) -> None:
            body = message.get("body", b"")
            last = max(0, len(body) - 1) // _BLOCK_BYTES * _BLOCK_BYTES
            for start in range(0, last, _BLOCK_BYTES):
                block = body[start : start + _BLOCK_BYTES]
                await send({**message, "body": block, "more_body": True})
            await send({**message, "body": body[last:]} if last else message)

        try:
            await self._held(scope, receive, in_blocks)
        finally:
            self._free()
