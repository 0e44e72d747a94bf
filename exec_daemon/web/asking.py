"""How a page asks: the endpoints of the API and the ops, as the person who is signed in (O-80)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request

from exec_daemon.api.problems import Refused
from exec_daemon.api.route import Answer, Ask, OpenRow, Row, check_may
from exec_daemon.box.table import lines_of_reading
from exec_daemon.calls.op import Ended
from exec_daemon.web.rendering import plain
from messaging import Call, CallError


async def told(
    ask: Ask, endpoint: Answer, *, query: dict[str, Any] | None = None, **path: str
) -> dict[str, Any]:
    """What the endpoint answers to this person, as JSON. Raises `Refused`, as its row of the API would."""
    check_may(_row(ask, endpoint), ask.asker)
    scope = {
        **ask.request.scope,
        "method": "GET",
        "path_params": path,
        "query_string": urlencode(query or {}).encode(),
        "headers": [],
    }
    response = await endpoint(Ask(Request(scope), ask.services, ask.asker))
    document: dict[str, Any] = json.loads(bytes(response.body))
    return document


def _row(ask: Ask, endpoint: Answer) -> Row:
    rows: tuple[Row | OpenRow, ...] = ask.request.app.rows
    return next(row for row in rows if isinstance(row, Row) and row.answer is endpoint)


async def outcome(ask: Ask, op: str, args: dict[str, Any] | None = None) -> Ended:
    """What a read-only op gives to this person. It makes no job: those are what somebody asked to be done."""
    return await ask.services.executor.look(ask.asker, Call(op, args or {}))


async def read(ask: Ask, op: str, args: dict[str, Any] | None = None) -> Any:
    """As `outcome`, its data. Raises `Refused`."""
    ended = await outcome(ask, op, args)
    if isinstance(ended, CallError):
        raise Refused(ended)
    return ended.data


async def look(ask: Ask, action: str) -> Iterator[str]:
    """A read of the machine as the lines of its table, or the one line that says why not."""
    ended = await outcome(ask, "box.exec", {"action": action})
    if isinstance(ended, CallError):
        return iter((plain(ended.message),))
    return map(plain, lines_of_reading(ended.data))
