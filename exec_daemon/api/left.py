"""A wait that ends when the client leaves: its place and its subscriptions are for others then.

Starlette tells nobody while an endpoint waits; only who asks the transport for the next message is told.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

# For the log; nobody is there who could read it. The number is nginx's for "client closed request".
_LEFT: Final = 499


async def unless_left(request: Request, answering: Awaitable[Response]) -> Response:
    """The answer to a request without a body; cancelled when its client leaves, and nobody gets any."""
    answer = asyncio.ensure_future(answering)
    leaving = asyncio.create_task(_leave(request))
    try:
        await asyncio.wait({answer, leaving}, return_when=asyncio.FIRST_COMPLETED)
        return answer.result() if answer.done() else Response(status_code=_LEFT)
    finally:
        answer.cancel()
        leaving.cancel()


async def _leave(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
