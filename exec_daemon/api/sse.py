"""Server-sent events (WHATWG HTML 9.2): a stream that follows the store, kept alive, ended at shutdown."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import StreamingResponse

from exec_daemon.api.answers import dump
from exec_daemon.api.problems import refuse
from exec_daemon.api.route import Ask
from exec_daemon.store import Subscription
from messaging import ErrorCode

_HEADERS: Final = {"cache-control": "no-store", "x-accel-buffering": "no"}
_ID: Final = re.compile(r"-?[0-9]{1,18}")
_KEEP_ALIVE: Final = b": keep-alive\n\n"


@dataclass(frozen=True, slots=True)
class Event:
    """One event. `id` is what a client sends back as `Last-Event-ID`; `last`: the stream ends with it."""

    name: str
    id: int
    content: Mapping[str, Any]
    last: bool = False

    def encode(self) -> bytes:
        """The event on the wire. ASCII, since some clients break lines at U+2028 and U+0085 too."""
        content = dump(self.content, ascii_only=True)
        return b"event: %s\nid: %d\ndata: %s\n\n" % (self.name.encode(), self.id, content)


def last_event_id(request: Request, default: int) -> int:
    """Where a client that comes back goes on."""
    written = request.headers.get("last-event-id", "").strip()
    if not written:
        return default
    if not _ID.fullmatch(written):
        raise refuse(ErrorCode.INVALID_REQUEST, "Last-Event-ID must be the id of an event.")
    return int(written)


async def changed(changes: Subscription, stopping: asyncio.Event, timeout_s: float) -> bool:
    """True when something changed; False after `timeout_s` or as soon as the daemon stops."""
    news = asyncio.create_task(changes.wait(timeout_s))
    stop = asyncio.create_task(stopping.wait())
    try:
        await asyncio.wait({news, stop}, return_when=asyncio.FIRST_COMPLETED)
        return news.done() and news.result()
    finally:
        news.cancel()
        stop.cancel()


Page = Callable[[int], Awaitable[Sequence[Event]]]


async def _follow(ask: Ask, topic: str, page: Page, after: int) -> AsyncIterator[bytes]:
    services = ask.services
    yield _KEEP_ALIVE
    with services.store.subscribe(topic) as changes:
        while not services.stopping.is_set() and await ask.still_valid():
            events = await page(after)
            for event in events:
                yield event.encode()
                after = event.id
                if event.last:
                    return
            if events:
                continue
            if not await changed(changes, services.stopping, services.settings.limits.keep_alive_s):
                yield _KEEP_ALIVE


def stream(ask: Ask, topic: str, page: Page, after: int) -> StreamingResponse:
    """Streams what `page(after)` gives, again and again from the last id on, whenever `topic` changes.

    It ends with the asker's token.
    """
    return StreamingResponse(
        _follow(ask, topic, page, after), headers=_HEADERS, media_type="text/event-stream"
    )
