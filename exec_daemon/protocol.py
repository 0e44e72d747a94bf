"""uvicorn's httptools protocol with limits on what a stranger can make it hold, and made to leave in time.

Whoever can open a connection has proved nothing yet. So the head of a request is limited in bytes, its head
and its body each have to arrive in time, and an answer has to be read. Between requests uvicorn's
`timeout_keep_alive` counts. Where there are too many connections, the one that has been quiet for longest
makes room. A request that two programs could take for different ones ends its connection (RFC 9112 11.2).

What the transport proved about the client goes into the scope of each request, under `PEER`.
"""

from __future__ import annotations

import asyncio
from datetime import datetime
from functools import partial
from typing import Any, ClassVar, Final, cast

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from exec_daemon.api.head import HEAD, Heads
from exec_daemon.api.sending import WHOLE
from exec_daemon.certificates.trust import Trust
from exec_daemon.clear import is_clear
from exec_daemon.cork import Corked
from exec_daemon.deadline import Deadline
from exec_daemon.eager import begun
from exec_daemon.peer import PEER, Peer, peer_of
from exec_daemon.repeats import Repeated, Repeats
from exec_daemon.settings import WireLimits
from exec_daemon.whole import send_whole

# What begins at once, with no task where it waits for nothing. `exec_daemon.eager` says what it must not do.
EAGER: Final = frozenset({("POST", "/exec")})

# In a request's scope: calling it takes the time limit off the body, for who has proved something (`/rpc`).
UNHURRIED: Final = "inband.unhurried"

# For each piece of a body, the length of its chunk and two line ends: chunks are as small as a client likes.
_BESIDE_A_CHUNK_BYTES: Final = 20


class Protocol(HttpToolsProtocol):
    """One connection. The deadline is that of the head or body that is being read, None between requests."""

    limits: ClassVar[WireLimits] = WireLimits()

    _head_bytes: int = 0
    _piece_bytes: int = 0
    _in_head: bool = True
    _head_ended: bool = False
    _unread_bytes: int = 0
    _beside_bytes: int = 0
    _refused: bool = False
    _peer: Peer | None = None
    quiet_since_s: float = 0.0
    _stalled: asyncio.TimerHandle | None = None
    _ready: tuple[RequestResponseCycle, Any] | None = None
    _between: bool = True

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._deadline = Deadline(self.loop, self._too_late)
        self._idle = Deadline(self.loop, self.timeout_keep_alive_handler)
        self._heads = Heads()
        self._seen = Repeats()
        self._unhurried = partial(self._deadline.within, None)
        self.quiet_since_s = self.loop.time()
        self._peer = peer_of(transport)
        if self._peer is None:
            transport.abort()
        elif len(self.connections) > self.limits.most_connections and not self._make_room():
            self._refuse(b"503 Service Unavailable", b"retry-after: 1\r\n")
        else:
            self._deadline.within(self.limits.head_s)

    def connection_lost(self, exc: Exception | None) -> None:
        self._deadline.stop()
        self._idle.stop()
        self.resume_writing()
        super().connection_lost(exc)

    def _make_room(self) -> bool:
        quiet = [
            one for one in self.connections if isinstance(one, Protocol) and one.quiet and one is not self
        ]
        if quiet:
            min(quiet, key=lambda one: one.quiet_since_s).drop()
        return bool(quiet)

    @property
    def quiet(self) -> bool:
        """Is nothing being answered?"""
        return not self._answering()

    def drop(self) -> None:
        """Ends the connection at once, in the middle of whatever it is."""
        self._refused = True
        self.transport.abort()

    def drop_unless(self, trust: Trust, now: datetime) -> None:
        """Ends the connection of a client whose certificate counts no more."""
        shown = self._peer and self._peer.certificate
        if shown and trust.objection(shown, now):
            self.drop()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stalled = self.loop.call_later(self.limits.stalled_s, self.drop)

    def resume_writing(self) -> None:
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None
        super().resume_writing()

    def on_response_complete(self) -> None:
        """As uvicorn's, without a timer of its own for each time between requests."""
        self.quiet_since_s = self.loop.time()
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return
        self.flow.resume_reading()
        if self.pipeline:
            super()._start_asgi_task(*self.pipeline.pop())  # not within the end of the one before
        else:
            self._idle.within(self.timeout_keep_alive)

    def data_received(self, data: bytes) -> None:
        if self._refused or self._repeats(data):
            return
        alone, self._between = self._between, False
        self._idle.within(None)
        if self._deadline.due_s is None and not self._answering():
            self._deadline.within(self.limits.head_s)
        only_head, self._head_ended, self._piece_bytes = self._in_head, False, len(data)
        self._beside_bytes += len(data)
        super().data_received(data)
        if self._ready is not None:
            if alone and self._between:
                self._seen.see(data, self._ready[0])
            self._begin(*self._ready)
        # The piece in which a head ends counts by what is parsed of it.
        if only_head and not self._head_ended:
            self._head_bytes += len(data)
            self._check_head()
        elif not only_head and not self._in_head:
            self._check_beside()

    def _repeats(self, data: bytes) -> bool:
        """Is it a whole request like one before, and alone? Then it is being answered."""
        found = None if not self._between or self._answering() else self._seen.found(data)
        if found is None:
            return False
        self._idle.within(None)
        self.cycle = Repeated(self, *found)
        self._begin(self.cycle, self.app)
        return True

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        """What is eager begins when all of this piece is parsed: mostly its body is there by then."""
        if (cycle.scope["method"], cycle.scope["path"]) in EAGER:
            self._ready = cycle, app
        else:
            super()._start_asgi_task(cycle, app)

    def _begin(self, cycle: RequestResponseCycle, app: Any) -> None:
        self._ready = None
        task = begun(self.loop, cycle.run_asgi(app))
        if task is not None:
            task.add_done_callback(self.tasks.discard)
            self.tasks.add(task)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_head, self._between = True, False

    def on_header(self, name: bytes, value: bytes) -> None:
        """A field behind a body (RFC 9112 7.1.2) is none of the head, whatever it is called."""
        if self._in_head:
            super().on_header(name, value)
        else:
            self._refuse_body()

    def on_headers_complete(self) -> None:
        self._head_ended = True
        if self._head_bytes + self._piece_bytes > self.limits.most_head_bytes:
            self._head_bytes = max(self._head_bytes, self._parsed_bytes())
        if not self._refused and self._check_head() and self._check_meaning():
            self._in_head, self._beside_bytes = False, 0
            self._deadline.within(self.limits.body_s)
            super().on_headers_complete()
            more = cast("dict[str, Any]", self.scope)
            more[PEER], more[UNHURRIED], more[HEAD] = self._peer, self._unhurried, self._heads.of(more)
            more[WHOLE] = partial(send_whole, self.cycle, self.transport)
            self.cycle.transport = cast("asyncio.Transport", Corked(self.transport))
        self._head_bytes = 0

    def on_message_complete(self) -> None:
        self._deadline.within(None)
        self._in_head, self._between, self._unread_bytes = True, True, 0
        if self._answering() and not self._refused:
            super().on_message_complete()

    def on_body(self, body: bytes) -> None:
        self._beside_bytes = max(0, self._beside_bytes - len(body) - _BESIDE_A_CHUNK_BYTES)
        if self._answering():
            super().on_body(body)
            return
        self._unread_bytes += len(body)
        if self._unread_bytes > self.limits.most_unread_bytes:
            self._refuse_body()

    def _answering(self) -> bool:
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is not None and not cycle.response_complete

    def _parsed_bytes(self) -> int:
        return len(self.url) + sum([len(name) + len(value) + 4 for name, value in self.headers])

    def _check_head(self) -> bool:
        fits = self._head_bytes <= self.limits.most_head_bytes
        if not fits:
            self._refuse(b"431 Request Header Fields Too Large")
        return fits

    def _check_beside(self) -> None:
        """Sent with a body and none of it: lengths of chunks, words behind them, fields at its end."""
        if self._beside_bytes > self.limits.most_head_bytes:
            self._refuse_body()

    def _check_meaning(self) -> bool:
        """An upgrade is refused as well: what comes behind it would not be read as a body."""
        version = self.parser.get_http_version()
        clear = is_clear(self.url, version, self.headers) and not self.parser.should_upgrade()
        if not clear:
            self._refuse(b"400 Bad Request")
        return clear

    def send_400_response(self, _msg: str) -> None:
        self._refuse(b"400 Bad Request")

    def _too_late(self) -> None:
        self._refuse(b"408 Request Timeout")

    def _refuse(self, status: bytes, fields: bytes = b"") -> None:
        """Ends the connection, with a word about why where that cuts into no other response."""
        self._refused = True
        if self.transport.is_closing():
            return
        if self.quiet or not (self._in_head or self.pipeline or self.cycle.response_started):
            head = b"HTTP/1.1 %s\r\nconnection: close\r\n%scontent-length: 0\r\n\r\n"
            self.transport.write(head % (status, fields))
        self._say_goodbye()

    def _refuse_body(self) -> None:
        """Without a word where the request was answered before its end."""
        if self._answering():
            self._refuse(b"400 Bad Request")
        elif not self._refused:
            self._refused = True
            self._say_goodbye()

    def _say_goodbye(self) -> None:
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
