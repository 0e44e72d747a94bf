"""`/replies` and `/cursors`: what a harvester reads, and how far it has got."""

from __future__ import annotations

import time
from typing import Any

from pydantic import Field
from starlette.responses import Response

from exec_daemon.api.answers import answer
from exec_daemon.api.body import Body, query_number, query_wait_s, read_body
from exec_daemon.api.pages import paged
from exec_daemon.api.problems import refuse
from exec_daemon.api.route import Ask
from exec_daemon.api.sse import changed
from exec_daemon.store import REPLIES
from messaging import ErrorCode, Message

_MOST = 200
# As long as a call id: a program and a host.
_MOST_NAME_CHARS = 200


class CursorBody(Body):
    """A position that `/replies` gave."""

    position: int = Field(ge=0, le=2**53)


async def _found(ask: Ask, after: int, limit: int) -> list[Message]:
    """Replies behind `after`; waits for the first one, up to what the client asked for."""
    services = ask.services
    until_s = time.monotonic() + query_wait_s(ask.request, ask.services.settings.limits.max_wait_s)
    with services.store.subscribe(REPLIES) as changes:
        while True:
            found = await paged(services.store.replies, after, limit, lambda one: one.position)
            left_s = until_s - time.monotonic()
            if found or left_s <= 0 or not await changed(changes, services.stopping, left_s):
                return found
            await ask.check_again()


async def _row(ask: Ask, message: Message) -> dict[str, Any]:
    thread = await ask.services.store.thread(message.thread)
    shown = thread.to_json() if thread else None
    return {"position": message.position, "message": message.to_json(), "thread": shown}


async def every(ask: Ask) -> Response:
    """Replies of all threads, in the order of the store; a long poll with `wait`."""
    after = query_number(ask.request, "after", 0, 2**53)
    limit = max(1, query_number(ask.request, "limit", 100, _MOST))
    found = await _found(ask, after, limit)
    rows = [await _row(ask, message) for message in found]
    return answer({"replies": rows, "position": found[-1].position if found else after})


def _name(ask: Ask) -> str:
    name = str(ask.request.path_params["name"])
    if len(name) > _MOST_NAME_CHARS:
        text = f"The name of a cursor has at most {_MOST_NAME_CHARS} characters."
        raise refuse(ErrorCode.INVALID_REQUEST, text)
    return name


async def cursor(ask: Ask) -> Response:
    """How far the harvester of this name has got; 0 for a new name."""
    name = _name(ask)
    return answer({"name": name, "position": await ask.services.store.cursor(name)})


async def set_cursor(ask: Ask) -> Response:
    """Remembers how far it has got. Beyond the last message there is nothing it could have read."""
    name = _name(ask)
    body = await read_body(ask.request, CursorBody, ask.services.settings.limits.max_call_bytes)
    last = await ask.services.store.last_position()
    if body.position > last:
        text = f"No message has the position {body.position}; the last one has {last}."
        raise refuse(ErrorCode.INVALID_REQUEST, text, last_position=last)
    await ask.services.store.set_cursor(name, body.position)
    return answer({"name": name, "position": body.position})
