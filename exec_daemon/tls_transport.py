"""A connection over TLS, without what asyncio has around it.

asyncio's TLS is a protocol within a transport, with the buffers and states of both: some forty function calls
for a small request and its answer, in which they spend more time than anywhere else on their way. Here a
request is one `recv` of the socket and one `read` of OpenSSL, and the answer one `write` and one `send`.

OpenSSL does not read the socket itself: in one `read` it would go on for as long as a client sends what is no
content (new keys, RFC 8446 4.6.3), and nobody else would have a turn.

States follow each other in one direction:

    OPEN      reads and writes
    FLUSHING  closed from our side: what was written is still sent, and our close_notify behind it
    LEAVING   that and our FIN are sent, and what still comes is thrown away until the other side ends too. A
              socket that is closed with something unread is reset, and an answer under way lost.
    CLOSED    the protocol knows, or will with the loop's next turn
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from enum import Enum, auto
from typing import Any, Final

from exec_daemon.handshake import Secured

# Read at a time from one connection, before others have their turn: one whole record (RFC 8446 5.2).
_READ_BYTES: Final = 16 * 1024 + 256
# What may come without content: a record that lacks its last byte, and something beside it. New keys
# (RFC 8446 4.6.3) cost us far more than who sends them, and also in turns many would keep the loop busy.
_MOST_WORDLESS_BYTES: Final = 2 * _READ_BYTES
# What may wait to be sent before whoever writes is asked to stop, and when to go on: asyncio's own.
_HIGH_BYTES: Final = 64 * 1024
_LOW_BYTES: Final = _HIGH_BYTES // 4
# Under way when we close, as much as a connection's buffers hold; who sends more after that is not listening.
_MOST_LATE_BYTES: Final = 256 * 1024


class _State(Enum):
    OPEN = auto()
    FLUSHING = auto()
    LEAVING = auto()
    CLOSED = auto()


class TlsTransport(asyncio.Transport):
    """As far as a protocol of ours uses one."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        secured: Secured,
        protocol: asyncio.Protocol,
        *,
        leave_s: float = 30.0,  # from our close to the end, whatever the other side does: asyncio's own
    ) -> None:
        connection, tls = secured.connection, secured.tls
        super().__init__({"socket": connection, "ssl_object": tls, "sslcontext": tls.context})
        self._loop = loop
        self._connection = connection
        self._tls = tls
        self._incoming = secured.incoming
        self._outgoing = secured.outgoing
        self._protocol = protocol
        self._descriptor = connection.fileno()
        self._state = _State.OPEN
        self._reading = False
        self._unsent = bytearray()
        self._stopped = False
        self._leave_s = leave_s
        self._wordless_bytes = 0
        self._late_bytes = 0
        self._end_timer: asyncio.TimerHandle | None = None
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        protocol.connection_made(self)
        self.resume_reading()

    def is_closing(self) -> bool:
        """Has the end begun?"""
        return self._state is not _State.OPEN

    def resume_reading(self) -> None:
        """Reads what comes from now on, and what has come with the handshake or before a pause."""
        if self._state is _State.OPEN and not self._reading:
            self._reading = True
            self._loop.add_reader(self._descriptor, self._readable)
            if self._more():
                self._loop.call_soon(self._take)

    def pause_reading(self) -> None:
        """Leaves what comes in the socket."""
        if self._reading:
            self._reading = False
            self._loop.remove_reader(self._descriptor)

    def _more(self) -> bool:
        return bool(self._incoming.pending or self._tls.pending())

    def _readable(self) -> None:
        try:
            sealed = self._connection.recv(_READ_BYTES)
        except BlockingIOError:
            return
        except OSError as failed:
            self._end(failed)
            return
        if sealed:
            self._incoming.write(sealed)
            self._wordless_bytes += len(sealed)
            self._take()
            if self._wordless_bytes > _MOST_WORDLESS_BYTES:
                self._end()
        else:
            self._other_side_ended()

    def _take(self) -> None:
        """Gives the protocol all that is whole."""
        while self._reading:
            try:
                piece = self._tls.read(_READ_BYTES)
            except ssl.SSLWantReadError:
                break
            except OSError as failed:
                self._fail(failed)
                return
            if not piece:
                self._other_side_ended()
                return
            self._wordless_bytes = 0
            try:
                self._protocol.data_received(piece)
            except BaseException:
                self.abort()
                raise
            if not self._more():
                break
        if self._outgoing.pending and self._state is _State.OPEN:  # the answer to new keys
            self._flush()

    def _fail(self, failed: OSError) -> None:
        """Says why by OpenSSL's alert, where there is room for it."""
        with contextlib.suppress(OSError):
            if not self._unsent:
                self._connection.send(self._outgoing.read())
        self._end(failed)

    def _other_side_ended(self) -> None:
        self._protocol.eof_received()
        self.close()

    def write(self, data: bytes | bytearray | memoryview[Any]) -> None:
        """Sends what it can now; the rest waits."""
        if self._state is not _State.OPEN or not data:
            return
        try:
            self._tls.write(data)
        except OSError as failed:
            self._end(failed)
            return
        self._flush()
        if len(self._unsent) > _HIGH_BYTES and not self._stopped:
            self._stopped = True
            self._protocol.pause_writing()

    def _flush(self) -> None:
        waits = bool(self._unsent)
        self._unsent += self._outgoing.read()
        if not waits:
            self._send()

    def _send(self) -> None:
        try:
            while self._unsent:
                del self._unsent[: self._connection.send(self._unsent)]
        except BlockingIOError:
            self._loop.add_writer(self._descriptor, self._writable)
        except OSError as failed:
            self._end(failed)

    def _writable(self) -> None:
        self._loop.remove_writer(self._descriptor)
        self._send()
        if self._stopped and len(self._unsent) <= _LOW_BYTES:
            self._stopped = False
            self._protocol.resume_writing()
        if self._state is _State.FLUSHING and not self._unsent:
            self._leave()

    def close(self) -> None:
        """Sends what waits, and ends."""
        if self._state is not _State.OPEN:
            return
        self.pause_reading()
        self._state = _State.FLUSHING
        self._end_timer = self._loop.call_later(self._leave_s, self.abort)
        with contextlib.suppress(OSError):  # it wants to wait for their goodbye, which we do not
            self._tls.unwrap()
        self._flush()
        if self._state is _State.FLUSHING and not self._unsent:
            self._leave()

    def _leave(self) -> None:
        self._state = _State.LEAVING
        try:
            self._connection.shutdown(socket.SHUT_WR)
        except OSError as failed:
            self._end(failed)
        else:
            self._loop.add_reader(self._descriptor, self._throw_away)

    def _throw_away(self) -> None:
        try:
            more = self._connection.recv(_READ_BYTES)
        except BlockingIOError:
            return
        except OSError:
            more = b""
        self._late_bytes += len(more)
        if not more or self._late_bytes > _MOST_LATE_BYTES:
            self._end()

    def abort(self) -> None:
        """Ends at once."""
        self._end()

    def _end(self, failed: OSError | None = None) -> None:
        if self._state is _State.CLOSED:
            return
        self._state, self._reading = _State.CLOSED, False
        self._loop.remove_reader(self._descriptor)
        self._loop.remove_writer(self._descriptor)
        if self._end_timer is not None:
            self._end_timer.cancel()
        self._loop.call_soon(self._ended, failed)

    def _ended(self, failed: OSError | None) -> None:
        try:
            self._protocol.connection_lost(failed)
        finally:
            self._connection.close()
