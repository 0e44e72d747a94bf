"""A thread followed over Server-Sent Events."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest

from harvester.errors import ProtocolError, Refused, Unavailable
from tests.harvester._scripted import MESSAGE, Script, answer, client_of


def events(*messages: dict[str, Any]) -> httpx2.Response:
    text = ": hello\n\n" + "".join(
        f"event: message\nid: {one['seq']}\ndata: {json.dumps(one)}\n\n" for one in messages
    )
    return httpx2.Response(200, text=text, headers={"Content-Type": "text/event-stream"})


def test_a_stream_that_drops_goes_on_behind_the_last_message() -> None:
    later = MESSAGE | {"id": "m2", "seq": 2}
    script = Script(events(MESSAGE), httpx2.ConnectError("down"), events(later))
    with client_of(script, []) as client:
        stream = client.stream("ops")
        assert [next(stream).seq, next(stream).seq] == [1, 2]
        stream.close()
    assert [asked.headers["Last-Event-ID"] for asked in script.asked] == ["0", "1", "1"]


def test_a_stream_that_does_not_come_back_ends_unavailable() -> None:
    script = Script(*[httpx2.ConnectError("down")] * 8)
    with client_of(script, []) as client, pytest.raises(Unavailable):
        next(client.stream("ops"))


def test_a_stream_that_breaks_in_the_middle_is_resumed() -> None:
    class Torn(httpx2.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            yield events(MESSAGE).content
            raise httpx2.ReadError("torn")

    torn = httpx2.Response(200, stream=Torn(), headers={"Content-Type": "text/event-stream"})
    other = b"event: other\ndata: {}\n\n"
    script = Script(
        torn,
        httpx2.Response(
            200,
            content=other + events(MESSAGE | {"seq": 2}).content,
            headers={"Content-Type": "text/event-stream"},
        ),
    )
    with client_of(script, []) as client:
        stream = client.stream("ops")
        assert [next(stream).seq, next(stream).seq] == [1, 2]
        stream.close()


def test_a_stream_of_a_missing_thread_is_refused() -> None:
    script = Script(answer(404, {"code": "NOT_FOUND", "detail": "no thread"}))
    with client_of(script, []) as client, pytest.raises(Refused, match="no thread"):
        next(client.stream("ops"))


def test_a_stream_of_something_else_is_a_protocol_error() -> None:
    with client_of(Script(answer(200, {})), []) as client, pytest.raises(ProtocolError):
        next(client.stream("ops"))
