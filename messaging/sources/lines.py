"""Events out of NDJSON text that a tool wrote (M-23, M-25)."""

from __future__ import annotations

import logging
from collections.abc import Iterator

from messaging.event_schema import EventError, decode_event
from messaging.events import JobEvent

log = logging.getLogger(__name__)


def read_lines(content: bytes) -> Iterator[JobEvent]:
    """The events of whole lines. A last line without its end was torn off and is left out (M-25).

    A line that is no event is passed over, with a line in the log: other programs write to the same pipe.
    """
    for line in content.split(b"\n")[:-1]:
        event = read_line(line)
        if event is not None:
            yield event


def read_line(line: bytes) -> JobEvent | None:
    """The event of one line; None for a blank line or one that is no event."""
    if not line.strip():
        return None
    try:
        return decode_event(line)
    except EventError as wrong:
        log.warning("a line of %d bytes was passed over: %s", len(line), wrong)
        return None
