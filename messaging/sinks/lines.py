"""Sinks that write to a descriptor: the final result only, or one event a line (M-22, M-23).

They write at once and unbuffered: what was emitted is out of the process, and a reader that has left shows
as `SinkBroken` here instead of as a traceback at the interpreter's end. A slow reader slows the job down;
nothing is dropped.
"""

from __future__ import annotations

import json
import os

from messaging.events import EventType, JobEvent
from messaging.sinks.errors import SinkBroken, SinkClosed


def write_all(descriptor: int, content: bytes) -> None:
    """All of `content`, in one write where the kernel takes it; raises `SinkBroken`."""
    left = memoryview(content)
    try:
        while left:
            left = left[os.write(descriptor, left) :]
    except OSError as fault:
        raise SinkBroken(f"events cannot be written: {fault.strerror}") from fault


class _Descriptor:
    """Writes to a descriptor that stays its owner's."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._closed = False

    def _write(self, content: bytes) -> None:
        if self._closed:
            raise SinkClosed("the sink is closed")
        write_all(self._descriptor, content)

    async def close(self) -> None:
        self._closed = True


class ResultSink(_Descriptor):
    """`stdout`: the result of a job that succeeded, indented by two blanks; nothing of any other (M-22)."""

    async def emit(self, event: JobEvent) -> None:
        shown = b""
        if event.type is EventType.SUCCEEDED:
            text = json.dumps(event.payload["result"], indent=2, ensure_ascii=False, allow_nan=False)
            shown = text.encode("utf-8", "replace") + b"\n"
        self._write(shown)


class EventsSink(_Descriptor):
    """`events`: NDJSON, one event a line, each line written at once (M-23)."""

    async def emit(self, event: JobEvent) -> None:
        self._write(event.encode() + b"\n")
