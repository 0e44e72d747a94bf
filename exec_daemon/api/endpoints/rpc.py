"""`POST /rpc`: JSON Lines in and out over one connection, both for as long as both sides like."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Final

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from exec_daemon.api.route import Ask
from exec_daemon.protocol import UNHURRIED
from exec_daemon.rpc.converse import Client, converse

_HEADERS: Final = [
    (b"content-type", b"application/x-ndjson"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
    (b"connection", b"close"),  # we may end before the request does, which leaves nothing to go on with
]


class _Lines(Response):
    """Sends while the request is still being read; Starlette's streaming response would read it too."""

    def __init__(self, lines: AsyncGenerator[bytes]) -> None:
        super().__init__()
        self._lines = lines

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": _HEADERS})
        async with aclosing(self._lines):
            async for line in self._lines:
                await send({"type": "http.response.body", "body": line, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


async def _chunks(request: Request) -> AsyncIterator[bytes]:
    try:
        async for chunk in request.stream():
            yield chunk
    except ClientDisconnect:
        return


async def talk(ask: Ask) -> Response:
    """Answers and events, until the client has said everything or its token ends."""
    services, request = ask.services, ask.request
    if unhurried := request.scope.get(UNHURRIED):
        unhurried()
    client = Client(asker=ask.asker, still_valid=ask.still_valid)
    keep_alive_s = services.settings.limits.keep_alive_s
    return _Lines(converse(services.desk, client, _chunks(request), keep_alive_s=keep_alive_s))
