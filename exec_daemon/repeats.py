"""A request whose head is that of one before it on its connection, but for the length of its body.

Who keeps a connection open sends the same fields with each request, byte by byte. What the parser found in
them holds again, so it does not have to look: the same bytes in the same place mean the same. Only how long
the body is may differ, and then it is as long as what has come. What is not quite like that is parsed.

This is about reading alone. Who asks, and whether they may, is asked with each request anew.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from exec_daemon.api.body import CONTENT
from exec_daemon.api.head import HEAD
from exec_daemon.api.sending import WHOLE
from exec_daemon.cork import Corked
from exec_daemon.whole import send_whole

_END: Final = b"\r\n\r\n"
# Our clients send under a kibibyte, and each connection keeps one.
_MOST_HEAD_BYTES: Final = 8 * 1024
_LENGTH_FIELD: Final = b"content-length"
# A piece from the transport is shorter than the longest number that is read here.
_MOST_DIGITS: Final = 9
_LENGTH: Final = re.compile(rb"\r\n%s:[ \t]*([0-9]{1,%d})\r\n" % (_LENGTH_FIELD, _MOST_DIGITS), re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Pattern:
    """A head in two parts: what stands before the digits of its length, and what behind them."""

    before: bytes
    behind: bytes

    def match(self, piece: bytes) -> tuple[bytes, bytes] | None:
        """Digits and body, where the piece is one whole request with this head and a body; else None."""
        start = len(self.before)
        end = piece.find(b"\r", start, start + _MOST_DIGITS + 1)
        if end < 0 or not (piece.startswith(self.before) and piece.startswith(self.behind, end)):
            return None
        digits, body = piece[start:end], piece[end + len(self.behind) :]
        return (digits, body) if digits.isdigit() and body and int(digits) == len(body) else None


def pattern_of(piece: bytes) -> Pattern | None:
    """The pattern of a piece that is one whole request with a body of known length; None for another."""
    head_bytes = piece.find(_END) + len(_END)
    begins = piece[:1].isalpha() and head_bytes <= _MOST_HEAD_BYTES
    found = _LENGTH.search(piece, 0, head_bytes) if begins else None
    if found is None or not 0 < int(found[1]) == len(piece) - head_bytes:
        return None
    return Pattern(piece[: found.start(1)], piece[found.end(1) : head_bytes])


class Repeated(RequestResponseCycle):
    """The answer to such a request. Its client waits for no 100, and goes on with the connection."""

    access_log = False
    chunked_encoding = None
    disconnected = waiting_for_100_continue = more_body = False
    response_started = response_complete = False
    keep_alive = True
    expected_content_length = 0

    def __init__(self, protocol: HttpToolsProtocol, scope: dict[str, Any], body: bytes) -> None:
        self.scope = cast("Any", scope)
        self.transport = cast("asyncio.Transport", Corked(protocol.transport))
        self.flow = protocol.flow
        self.logger = protocol.logger
        self.default_headers = protocol.server_state.default_headers
        self.on_response = protocol.on_response_complete
        self.message_event = asyncio.Event()
        self.message_event.set()
        self.body = bytearray(body)
        scope[WHOLE] = partial(send_whole, self, protocol.transport)
        scope[CONTENT] = body


class Repeats:
    """What the last request of a connection was found to be, for the next ones with the same head."""

    __slots__ = ("_pattern", "_scope")

    def __init__(self) -> None:
        self._pattern: Pattern | None = None
        self._scope: Mapping[str, Any] = {}

    def see(self, piece: bytes, cycle: RequestResponseCycle) -> None:
        """`piece` was parsed as this request, and nothing before or behind it."""
        pattern = pattern_of(piece) if cycle.keep_alive and not cycle.waiting_for_100_continue else None
        if pattern is not None:
            self._pattern, self._scope = pattern, dict(cast("dict[str, Any]", cycle.scope))

    def found(self, piece: bytes) -> tuple[dict[str, Any], bytes] | None:
        """The scope and the body of `piece`, where it is a request like the one that was seen."""
        matched = self._pattern and self._pattern.match(piece)
        if not matched:
            return None
        (length, body), scope = matched, dict(self._scope)
        head = scope[HEAD]
        if head.fields["content-length"] != (text := length.decode()):
            scope[HEAD] = head.with_length(text)
            scope["headers"] = [
                (name, length if name == _LENGTH_FIELD else value) for name, value in scope["headers"]
            ]
        return scope, body
