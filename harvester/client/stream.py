"""A thread followed live over Server-Sent Events, over drops and restarts without loss or repetition."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator
from dataclasses import replace

import httpx2

from harvester.client.retry import PATIENT
from harvester.client.wire import Request, Wire
from harvester.errors import ProtocolError, Unavailable
from messaging import Message

# The daemon writes a comment each 15 s; after two that are missing the connection is dead.
SILENCE_S = 40.0


def follow(wire: Wire, thread: str, after: int = 0) -> Generator[Message, None, None]:
    """Messages with a sequence number above `after` as they come; ends only with the caller or an error.

    A dropped stream is resumed behind the last message; raises `Unavailable` when the daemon stays away for
    longer than a restart takes.
    """
    patient = replace(wire.retry, attempts=PATIENT.attempts)
    delays = patient.delays()
    while True:
        try:
            for message in _one_stream(wire, thread, after):
                after, delays = message.seq, patient.delays()
                yield message
        except Unavailable:
            if not delays.again():
                raise


def _one_stream(wire: Wire, thread: str, after: int) -> Iterator[Message]:
    headers = {"Accept": "text/event-stream", "Last-Event-ID": str(after)}
    path = f"/threads/{thread}/stream"
    request = Request(method="GET", path=path, repeatable=True, headers=headers, read_s=SILENCE_S)
    response = wire.open(request)
    try:
        for event in httpx2.EventSource(response):
            if event.event == "message":
                yield Message.from_json(json.loads(event.data))
    except httpx2.TransportError as failure:
        raise wire.typed(failure) from failure
    except (httpx2.SSEError, ValueError, KeyError, TypeError) as broken:
        raise ProtocolError(f"the stream of {thread} is not what the API promises", url=wire.url) from broken
    finally:
        response.close()
    raise Unavailable(f"the daemon at {wire.url} ended the stream of {thread}", url=wire.url)
