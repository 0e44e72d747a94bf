"""A connection over TLS that OpenSSL reads and writes itself.

asyncio keeps OpenSSL away from the socket: what comes in goes through two buffers in memory, what goes out
through two others, and some forty functions look after them. A small request and its answer spend more time
there than anywhere else on their way. Here a request is one `recv` of its socket and the answer one `send`.

States follow each other in one direction:

    OPEN      reads and writes
    FLUSHING  closed from our side: what was written is still sent
    LEAVING   our close_notify and FIN are sent, and what still comes is thrown away until the other side ends
              too. A socket that is closed with something unread is reset, and an answer under way lost.
    CLOSED    the protocol knows, or will with the loop's next turn
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from enum import Enum, auto
from typing import Any, Final

# What one TLS record holds at most (RFC 8446 5.1): a read that gives less has left nothing behind.
_RECORD_BYTES: Final = 16_384
# Read at a time from one connection, before others have their turn.
_MOST_RECORDS: Final = 16
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
    """As far as a protocol of ours uses one. `connection` does not block and has its handshake behind it."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        connection: ssl.SSLSocket,
        protocol: asyncio.Protocol,
        *,
        leave_s: float = 30.0,  # from our close to the end, whatever the other side does: asyncio's own
    ) -> None:
        super().__init__({"socket": connection, "ssl_object": connection, "sslcontext": connection.context})
        self._loop = loop
        self._connection = connection
        self._protocol = protocol
        self._descriptor = connection.fileno()
        self._state = _State.OPEN
        self._reading = False
        self._unsent = bytearray()
        self._stopped = False
        self._leave_s = leave_s
        self._late_bytes = 0
        self._end_timer: asyncio.TimerHandle | None = None
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        protocol.connection_made(self)
        self.resume_reading()

    def is_closing(self) -> bool:
        """Has the end begun?"""
        return self._state is not _State.OPEN

    def resume_reading(self) -> None:
        """Reads what comes from now on."""
        if self._state is _State.OPEN and not self._reading:
            self._reading = True
            self._loop.add_reader(self._descriptor, self._readable)

    def pause_reading(self) -> None:
        """Leaves what comes in the socket."""
        if self._reading:
            self._reading = False
            self._loop.remove_reader(self._descriptor)

    def _readable(self) -> None:
        for _ in range(_MOST_RECORDS):
            piece = self._received()
            if piece is None:
                return
            try:
                self._protocol.data_received(piece)
            except BaseException:
                self.abort()
                raise
            if len(piece) < _RECORD_BYTES or not self._reading:
                return

    def _received(self) -> bytes | None:
        """What has come; None where that is nothing, or the end."""
        try:
            piece = self._connection.recv(_RECORD_BYTES)
        except ssl.SSLWantReadError:
            return None
        except OSError as failed:  # also of who asks for new keys and reads nothing (RFC 8446 4.6.3)
            self._end(failed)
            return None
        if not piece:
            self._protocol.eof_received()
            self.close()
        return piece or None

    def write(self, data: bytes | bytearray | memoryview[Any]) -> None:
        """Sends what it can now; the rest waits."""
        if self._state is not _State.OPEN or not data:
            return
        waits = bool(self._unsent)
        self._unsent += data
        if not waits:
            self._flush()
        if len(self._unsent) > _HIGH_BYTES and not self._stopped:
            self._stopped = True
            self._protocol.pause_writing()

    def _flush(self) -> None:
        """Record by record: what OpenSSL could send in part only, it has to be shown again."""
        try:
            while self._unsent:
                del self._unsent[: self._connection.send(self._unsent[:_RECORD_BYTES])]
        except ssl.SSLWantWriteError:
            self._loop.add_writer(self._descriptor, self._writable)
        except OSError as failed:
            self._end(failed)

    def _writable(self) -> None:
        self._loop.remove_writer(self._descriptor)
        self._flush()
        if self._stopped and len(self._unsent) <= _LOW_BYTES:
            self._stopped = False
            self._protocol.resume_writing()
        if self._state is _State.FLUSHING and not self._unsent:
            self._leave()

    def close(self) -> None:
        """Sends what waits, and ends."""
        if self._state is _State.OPEN:
            self.pause_reading()
            self._state = _State.FLUSHING
            self._end_timer = self._loop.call_later(self._leave_s, self.abort)
            if not self._unsent:
                self._leave()

    def _leave(self) -> None:
        self._state = _State.LEAVING
        with contextlib.suppress(OSError):  # who has gone already, or whose goodbye we do not wait for
            self._connection.unwrap()
        try:
            self._connection.shutdown(socket.SHUT_WR)  # and from here on without TLS
        except OSError as failed:
            self._end(failed)
        else:
            self._loop.add_reader(self._descriptor, self._throw_away)

    def _throw_away(self) -> None:
        try:
            more = self._connection.recv(_RECORD_BYTES)
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
