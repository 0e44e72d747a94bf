"""Frames on stdout (T-01 to T-05): a start marker, one JSON object and an end marker, each a whole line.

Everything around them is noise that a program's libraries print. How the bytes were cut into chunks cannot
be seen in what comes out. A frame that is not right is an event of its own, and the next one is read.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from messaging.container.fields import WireError
from messaging.container.output import ContainerOutput
from messaging.strict_json import StrictJsonError, load_object

# T-05. A reply has a few kilobytes; whoever frames more than this has gone wrong.
MAX_FRAME_BYTES: Final = 10 << 20


@dataclass(frozen=True, slots=True)
class Markers:
    """The two lines of one dialect."""

    start: str
    end: str


TALON: Final = Markers("---TALON_OUTPUT_START---", "---TALON_OUTPUT_END---")
NANOCLAW: Final = Markers("---NANOCLAW_OUTPUT_START---", "---NANOCLAW_OUTPUT_END---")
_STARTS: Final = {markers.start.encode(): markers for markers in (TALON, NANOCLAW)}
_ENDS: Final = {markers.end.encode(): markers for markers in (TALON, NANOCLAW)}
# The longest marker and a CR: of a line of noise no more has to be held to know that it is none.
_MARKER_BYTES: Final = max(map(len, (*_STARTS, *_ENDS))) + 1


@dataclass(frozen=True, slots=True)
class Framed:
    """One output."""

    output: ContainerOutput


@dataclass(frozen=True, slots=True)
class Unframed:
    """A frame that holds no output; `problem` says why."""

    problem: str


def framed(output: ContainerOutput, markers: Markers = TALON) -> str:
    """The output between its markers, ready for stdout.

    ASCII without a run of three dashes: what quotes a marker cannot be taken for one, not even by a reader
    that looks for it in the middle of a line (T-04).
    """
    body = json.dumps(output.to_json(), ensure_ascii=True).replace("---", "\\u002d\\u002d\\u002d")
    return f"{markers.start}\n{body}\n{markers.end}\n"


class FrameReader:
    """Feed it bytes, close it at the end; both give what they found. Use after `close()` raises."""

    def __init__(self, max_frame_bytes: int = MAX_FRAME_BYTES) -> None:
        self._most = max_frame_bytes
        self._line = bytearray()
        self._cut = False  # the line is longer than what is held of it
        self._open: Markers | None = None
        self._body = bytearray()
        self._too_large = False
        self._closed = False

    def feed(self, chunk: bytes) -> list[Framed | Unframed]:
        """The frames that end in `chunk`."""
        if self._closed:
            raise ValueError("this reader is closed")
        *ended, rest = chunk.split(b"\n")
        found = []
        for piece in ended:
            self._hold(piece)
            if event := self._line_ends():
                found.append(event)
        self._hold(rest)
        return found

    def close(self) -> list[Framed | Unframed]:
        """The last frame, if its end marker has no line end, or what was left open."""
        event = self._line_ends() if self._line else None
        self._closed = True
        if event:
            return [event]
        return [Unframed("the output ended inside a frame")] if self._open else []

    def _hold(self, piece: bytes) -> None:
        most = self._most + 1 if self._open else _MARKER_BYTES + 1
        room = most - len(self._line)
        self._cut |= len(piece) > room
        self._line += piece[: max(0, room)]

    def _line_ends(self) -> Framed | Unframed | None:
        line, cut = bytes(self._line), self._cut
        self._line.clear()
        self._cut = False
        marker = b"" if cut else line.removesuffix(b"\r")
        if marker in _STARTS:  # also inside a frame: its writer died and another one began
            self._begin(_STARTS[marker])
        elif self._open and _ENDS.get(marker) is self._open:
            return self._end()
        elif self._open:
            self._add(line, cut=cut)
        return None

    def _begin(self, markers: Markers) -> None:
        self._open = markers
        self._body.clear()
        self._too_large = False

    def _add(self, line: bytes, *, cut: bool) -> None:
        self._too_large |= cut or len(self._body) + len(line) > self._most
        if self._too_large:
            self._body.clear()
        else:
            self._body += line + b"\n"

    def _end(self) -> Framed | Unframed:
        body = bytes(self._body)
        too_large = self._too_large
        self._open = None
        self._body.clear()
        return Unframed(f"a frame has over {self._most:,} bytes") if too_large else _read(body)


def _read(body: bytes) -> Framed | Unframed:
    try:
        document: Any = load_object(body.decode("utf-8"))
        return Framed(ContainerOutput.from_json(document))
    except (UnicodeDecodeError, StrictJsonError, WireError) as wrong:
        return Unframed(f"a frame holds no output: {wrong}")
