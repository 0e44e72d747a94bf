"""How a response leaves: whole where it can, in blocks where it is long, and what its status was."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol, cast

from starlette.responses import Response
from starlette.types import Message, Scope, Send

from exec_daemon.api.answers import Written

# One write of any size counts as sent to asyncio; of several, the second waits until the client reads.
_BLOCK_BYTES: Final = 256 * 1024
# In a request's scope, where the server can do it: a `Whole`.
WHOLE: Final = "inband.whole"


class Whole(Protocol):
    """Sends a response at once, without the two messages of ASGI."""

    def __call__(self, status: int, fields: Sequence[tuple[bytes, bytes]], body: bytes) -> bool:
        """False where it has to be sent by ASGI after all."""
        ...


class Sending:
    """ASGI's `send` for one request. `status` is 0 until a response has begun."""

    __slots__ = ("_send", "_whole", "status")

    def __init__(self, send: Send, scope: Scope) -> None:
        self.status = 0
        self._send = send
        self._whole = cast("Whole | None", scope.get(WHOLE))

    async def __call__(self, message: Message) -> None:
        self.status = message.get("status", self.status)
        body = message.get("body", b"")
        last = max(0, len(body) - 1) // _BLOCK_BYTES * _BLOCK_BYTES
        for start in range(0, last, _BLOCK_BYTES):
            block = body[start : start + _BLOCK_BYTES]
            await self._send({**message, "body": block, "more_body": True})
        await self._send({**message, "body": body[last:]} if last else message)

    def whole(self, response: Response) -> bool:
        """Has it been sent at once? So a short one whose content is known."""
        plain = type(response) in (Response, Written) and response.background is None
        if not plain or self._whole is None or len(response.body) > _BLOCK_BYTES:
            return False
        sent = self._whole(response.status_code, response.raw_headers, bytes(response.body))
        self.status = response.status_code if sent else 0
        return sent
