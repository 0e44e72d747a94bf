"""Around every request: one line in the log, and no fault that reaches a client with its insides."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import TypeAlias

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from exec_daemon.api.problems import failed_answer
from exec_daemon.calls.faults import fault
from exec_daemon.logs import REQUESTS

Count: TypeAlias = Callable[[str, str | None, int], None]

log = logging.getLogger(REQUESTS)


class AccessLog:
    """Method, path, status, duration and identity. Never headers, queries or bodies: they hold secrets.

    `count` gets the method, the path of the row (None where there is none) and the status.
    """

    def __init__(self, app: ASGIApp, count: Count = lambda *_: None) -> None:
        self._app = app
        self._count = count

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began_s, status = time.monotonic(), 0

        async def noting(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        try:
            await self._app(scope, receive, noting)
        finally:
            took_ms = (time.monotonic() - began_s) * 1000
            who = scope.get("inband.identity", "-")
            path = scope["path"][:200].encode("unicode_escape").decode()
            fields = {"method": scope["method"], "path": path, "status": status, "took_ms": round(took_ms, 3)}
            fields |= {"identity": who, **scope.get("inband.ids", {})}
            line = ("%s %s %d %.1fms %s", scope["method"], path, status, took_ms, who)
            log.info(*line, extra={"fields": fields})
            self._count(scope["method"], scope.get("inband.row"), status)


class Incidents:
    """A fault becomes INTERNAL_ERROR with an incident id; the log has the traceback under it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = False

        async def noting(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self._app(scope, receive, noting)
        except Exception as raised:  # noqa: BLE001 - this is where whatever was not foreseen ends
            failed = fault(raised)
            if scope["type"] == "http" and not started:
                await failed_answer(scope["path"], failed)(scope, receive, send)
