"""The application: what stands around every request, and the way to who answers it.

One callable does all of it, since each that is called in turn costs about as much as what it does. Its order:
the head is looked at, the row is found, the row answers; whatever comes of it is one line in the log.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final, TypeAlias

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from exec_daemon.api.gate import Allowed, refusal
from exec_daemon.api.head import Head, head_of
from exec_daemon.api.problems import EXCEPTIONS, failed_answer
from exec_daemon.api.sending import Sending
from exec_daemon.calls.faults import fault
from exec_daemon.request_log import note
from messaging import error

Count: TypeAlias = Callable[[str, str | None, int], None]
Endpoint: TypeAlias = Callable[[Request], Awaitable[Response]]

# In a request's scope: gives the place back that its identity has taken, when the answer is over.
FREE: Final = "inband.free"

_EXPECTED: Final = tuple(EXCEPTIONS)


class Front:
    """Pure ASGI: a disconnect stays visible to what stands behind.

    Paths without parameters are found by themselves, all others by `routes` in their order. `count` gets the
    method, the path of the row (None where there is none) and the status.
    """

    def __init__(self, routes: Sequence[Route], allowed: Allowed, count: Count = lambda *_: None) -> None:
        self.routes = routes
        # Without redirects: they would send clients to whatever host the request names.
        self._rest: ASGIApp = Router(routes=routes, redirect_slashes=False)
        self._exact: Mapping[tuple[str, str], Endpoint] = {
            (method, route.path): route.endpoint
            for route in reversed(routes)
            for method in route.methods or ()
            if not route.param_convertors
        }
        self._allowed = allowed
        self._count = count

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        began_s, sending = time.monotonic(), Sending(send, scope)
        scope["app"] = self
        try:
            await self._answer(scope, receive, sending)
        except Exception as raised:  # noqa: BLE001 - this is where whatever was not foreseen ends
            failed = fault(raised)
            if not sending.status:
                await failed_answer(scope["path"], failed)(scope, receive, sending)
        finally:
            if FREE in scope:
                scope[FREE]()
            note(scope, sending.status, (time.monotonic() - began_s) * 1000)
            self._count(scope["method"], scope.get("inband.row"), sending.status)

    async def _answer(self, scope: Scope, receive: Receive, sending: Sending) -> None:
        head = head_of(scope)
        try:
            response = await self._response(head, scope, receive, sending)
        except _EXPECTED as raised:
            if sending.status:
                raise
            answer = next(EXCEPTIONS[kind] for kind in type(raised).__mro__ if kind in EXCEPTIONS)
            response = await answer(Request(scope, receive), raised)
        if response is not None and not sending.whole(response):
            await response(scope, receive, sending)

    async def _response(
        self, head: Head, scope: Scope, receive: Receive, sending: Sending
    ) -> Response | None:
        """None where it is sent already."""
        refused = refusal(head, self._allowed)
        if refused is not None:
            return failed_answer(head.path, error(refused.code, refused.message), refused.status)
        endpoint = self._exact.get((head.method, head.path))
        if endpoint is not None:
            return await endpoint(Request(scope, receive, sending))
        await self._rest(scope, receive, sending)
        return None
