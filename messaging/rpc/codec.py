"""Bytes to lines, lines to requests. Chunking is invisible; what is held at once is one line (J-01)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from messaging.errors import MessagingError
from messaging.rpc.codes import RpcCode, rpc_error
from messaging.rpc.frames import Rejected, Request, read_request

# J-01. A prompt may quote a file; what is larger belongs into one.
MOST_LINE_BYTES: Final = 1 << 20


class CodecClosed(MessagingError):
    """`feed` or `close` after `close`."""


class Lines:
    """Splits at LF and drops a CR before it. A line that is too long comes as None, once, when it ends."""

    def __init__(self, most_bytes: int = MOST_LINE_BYTES) -> None:
        self._most_bytes = most_bytes
        self._held = bytearray()
        self._too_long = False
        self._closed = False

    def feed(self, chunk: bytes) -> list[bytes | None]:
        """The lines that are whole now; blank ones are left out."""
        self._check_open()
        *ended, rest = chunk.split(b"\n")
        lines = [line for part in ended if (line := self._end(part)) != b""]
        self._hold(rest)
        return lines

    def close(self) -> list[bytes | None]:
        """The last line, where no LF ended it."""
        self._check_open()
        self._closed = True
        last = self._end(b"")
        return [] if last == b"" else [last]

    def _hold(self, part: bytes) -> None:
        """A CR may still turn out to belong to the line's end."""
        if self._too_long or len(self._held) + len(part) > self._most_bytes + 1:
            self._too_long = True
            self._held.clear()
        else:
            self._held += part

    def _end(self, part: bytes) -> bytes | None:
        self._hold(part)
        line = bytes(self._held).removesuffix(b"\r")
        too_long = self._too_long or len(line) > self._most_bytes
        self._held.clear()
        self._too_long = False
        return None if too_long else line if line.strip() else b""

    def _check_open(self) -> None:
        if self._closed:
            raise CodecClosed("the lines have ended")


class Codec:
    """`feed` bytes, get requests and rejections, in order."""

    def __init__(self, most_line_bytes: int = MOST_LINE_BYTES) -> None:
        self._most_bytes = most_line_bytes
        self._lines = Lines(most_line_bytes)

    def feed(self, chunk: bytes) -> Iterator[Request | Rejected]:
        """What the lines that are whole now hold, each read when it is asked for."""
        return map(self._read, self._lines.feed(chunk))

    def close(self) -> Iterator[Request | Rejected]:
        """What a last line without LF holds."""
        return map(self._read, self._lines.close())

    def _read(self, line: bytes | None) -> Request | Rejected:
        if line is None:
            text = f"The line has more than {self._most_bytes} bytes."
            return Rejected(None, rpc_error(RpcCode.INVALID_REQUEST, text, most_bytes=self._most_bytes))
        return read_request(line)
