"""A response whose content is known, sent at once: what uvicorn does in two messages of ASGI."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from typing import Final

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle

# RFC 9110 5.5: nothing that could end a field.
_UNSAFE: Final = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")


def send_whole(
    cycle: RequestResponseCycle,
    transport: asyncio.Transport,
    status: int,
    fields: Sequence[tuple[bytes, bytes]],
    body: bytes,
) -> bool:
    """Sends head and body in one write. False, and nothing is sent, for what needs more than that.

    Each name is in lower case and ours, and one of `fields` is the length of `body`.
    """
    if cycle.flow.write_paused or cycle.response_started or cycle.scope["method"] == "HEAD":
        return False
    if _UNSAFE.search(b"".join([value for _, value in fields])):
        return False
    cycle.response_started = cycle.response_complete = True
    cycle.message_event.set()
    if not cycle.disconnected:
        transport.write(_head(cycle, status, fields) + body)
        if not cycle.keep_alive:
            transport.close()
        cycle.on_response()
    return True


def _head(cycle: RequestResponseCycle, status: int, fields: Sequence[tuple[bytes, bytes]]) -> bytes:
    lines = [b"%s: %s\r\n" % field for field in (*cycle.default_headers, *fields)]
    end = b"\r\n" if cycle.keep_alive else b"connection: close\r\n\r\n"
    return b"".join((STATUS_LINE[status], *lines, end))
