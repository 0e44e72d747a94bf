"""A response whose content is known, sent at once: what uvicorn does in two messages of ASGI."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle

# RFC 9110 5.5: nothing that could end a field.
_UNSAFE: Final = re.compile(rb"[\x00-\x08\x0a-\x1f\x7f]")

_KEPT: Final = b"\r\n"
_CLOSED: Final = b"connection: close\r\n\r\n"


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
    lines = _lines(tuple(fields))
    if lines is None:
        return False
    cycle.response_started = cycle.response_complete = True
    cycle.message_event.set()
    if not cycle.disconnected:
        always, end = _lines(tuple(cycle.default_headers)) or b"", _KEPT if cycle.keep_alive else _CLOSED
        transport.write(b"".join((STATUS_LINE[status], always, lines, end, body)))
        if not cycle.keep_alive:
            transport.close()
        cycle.on_response()
    return True


# Most answers have the same fields, and there are not many lengths.
@lru_cache(maxsize=512)
def _lines(fields: tuple[tuple[bytes, bytes], ...]) -> bytes | None:
    """As they are on the wire; None where one holds what could end it."""
    if _UNSAFE.search(b"".join([value for _, value in fields])):
        return None
    return b"".join([b"%s: %s\r\n" % field for field in fields])
