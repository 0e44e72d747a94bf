"""uvicorn's httptools protocol with limits on what a stranger can make it hold, and made to leave in time.

Whoever can open a connection has proved nothing yet. So the head of a request is limited in bytes, and its
head and its body each have to arrive in time. Between requests uvicorn's `timeout_keep_alive` counts.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any, ClassVar, Final, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from exec_daemon.settings import WireLimits

# In a request's scope: calling it takes the time limit off the body, for who has proved something (`/rpc`).
UNHURRIED: Final = "inband.unhurried"


class Protocol(HttpToolsProtocol):
    """One connection. The deadline is that of the head or body that is being read, None between requests."""

    limits: ClassVar[WireLimits] = WireLimits()

    _deadline: asyncio.TimerHandle | None = None
    _head_bytes: int = 0
    _in_head: bool = True
    _head_ended: bool = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._expect_within(self.limits.head_s)

    def connection_lost(self, exc: Exception | None) -> None:
        self._expect_within(None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._deadline is None and not self._answering():
            self._expect_within(self.limits.head_s)
        only_head, self._head_ended = self._in_head, False
        super().data_received(data)
        # The piece in which a head ends counts by what is parsed of it.
        if only_head and not self._head_ended:
            self._head_bytes += len(data)
            self._check_head()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_head = True

    def on_headers_complete(self) -> None:
        self._in_head, self._head_ended = False, True
        self._head_bytes = max(self._head_bytes, self._parsed_bytes())
        if self._check_head():
            self._expect_within(self.limits.body_s)
            super().on_headers_complete()
            cast("dict[str, Any]", self.scope)[UNHURRIED] = partial(self._expect_within, None)
        self._head_bytes = 0

    def on_message_complete(self) -> None:
        self._expect_within(None)
        self._in_head = True
        if self._answering():
            super().on_message_complete()

    def on_body(self, body: bytes) -> None:
        if self._answering():
            super().on_body(body)

    def _answering(self) -> bool:
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is not None and not cycle.response_complete

    def _parsed_bytes(self) -> int:
        return len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)

    def _check_head(self) -> bool:
        fits = self._head_bytes <= self.limits.most_head_bytes
        if not fits:
            self._refuse(b"431 Request Header Fields Too Large")
        return fits

    def _expect_within(self, seconds: float | None) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = None if seconds is None else self.loop.call_later(seconds, self._too_late)

    def _too_late(self) -> None:
        self._refuse(b"408 Request Timeout")

    def _refuse(self, status: bytes) -> None:
        """Ends the connection, with a word about why where that cuts into no other response."""
        if self.transport.is_closing():
            return
        if not self._answering() or not self.cycle.response_started:
            self.transport.write(b"HTTP/1.1 %s\r\nconnection: close\r\ncontent-length: 0\r\n\r\n" % status)
        self.transport.close()
        self.loop.call_later(self.limits.goodbye_s, self.transport.abort)

    def shutdown(self) -> None:
        """Ends the connection after the response under way; waits for no answer to the goodbye."""
        super().shutdown()
        self.loop.call_later(self.limits.goodbye_s, self._leave)

    def _leave(self) -> None:
        if self.transport.is_closing():
            self.transport.abort()
        else:
            self.loop.call_later(self.limits.goodbye_s, self._leave)


def limited(limits: WireLimits) -> type[Protocol]:
    """The protocol with these limits; uvicorn wants a class."""
    return type("LimitedProtocol", (Protocol,), {"limits": limits})
