"""Events that arrive as NDJSON: a file that grows, a pipe (M-23 to M-25)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from io import FileIO
from pathlib import Path
from typing import BinaryIO, Final

from messaging.events import JobEvent
from messaging.sources.lines import read_line

# A person who watches does not see a shorter delay; a look costs one read that finds nothing.
_LOOK_EVERY_S: Final = 0.1
_BLOCK_BYTES: Final = 256 * 1024
# M-81: what is larger than this is an artifact. A longer line is no event of ours.
_MOST_LINE_BYTES: Final = 16 * 1024 * 1024


class _Lines:
    """Cuts blocks into lines; an overlong line is dropped, not kept in memory."""

    def __init__(self) -> None:
        self._part = bytearray()
        self._dropping = False

    def feed(self, block: bytes) -> list[bytes]:
        *whole, part = block.split(b"\n")
        lines = [self._end(line) for line in whole]
        self._grow(part)
        return [line for line in lines if line is not None]

    def _end(self, rest: bytes) -> bytes | None:
        self._grow(rest)
        line, dropped = bytes(self._part), self._dropping
        self._part.clear()
        self._dropping = False
        return None if dropped else line

    def _grow(self, rest: bytes) -> None:
        if len(self._part) + len(rest) > _MOST_LINE_BYTES:
            self._part.clear()
            self._dropping = True
        if not self._dropping:
            self._part += rest


async def file_events(path: Path) -> AsyncIterator[JobEvent]:
    """Events of all jobs in the file, and those that are appended to it; waits for a file that is not there.

    Never ends by itself. A line that is being written is waited for.
    """
    lines = _Lines()
    with await _opened(path) as file:
        while True:
            block = file.read(_BLOCK_BYTES) or b""
            for line in lines.feed(block):
                if (event := read_line(line)) is not None:
                    yield event
            if not block:
                await asyncio.sleep(_LOOK_EVERY_S)


async def _opened(path: Path) -> FileIO:
    while True:
        try:
            return FileIO(path)
        except FileNotFoundError:
            await asyncio.sleep(_LOOK_EVERY_S)


def whole_events(file: BinaryIO) -> Iterator[JobEvent]:
    """Events of all jobs in a file that is read once, to its end; reading it never waits."""
    lines = _Lines()
    while block := file.read(_BLOCK_BYTES):
        for line in lines.feed(block):
            if (event := read_line(line)) is not None:
                yield event


async def pipe_events(reader: asyncio.StreamReader) -> AsyncIterator[JobEvent]:
    """Events out of a pipe, until its writer closes it. A last line without its end was torn off."""
    lines = _Lines()
    while block := await reader.read(_BLOCK_BYTES):
        for line in lines.feed(block):
            if (event := read_line(line)) is not None:
                yield event
