"""A response that is sent at once, and what has to go by ASGI after all."""

from __future__ import annotations

import asyncio
from typing import Any, cast
from unittest.mock import Mock

import pytest
from starlette.responses import Response, StreamingResponse
from starlette.types import Message
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from exec_daemon.api.sending import WHOLE, Sending
from exec_daemon.whole import send_whole

FIELDS = [(b"content-length", b"2"), (b"content-type", b"application/json")]


class Wire:
    """What is written, and whether the connection was closed."""

    def __init__(self) -> None:
        self.written = b""
        self.closed = False

    def write(self, piece: bytes) -> None:
        self.written += piece

    def close(self) -> None:
        self.closed = True


def cycle(
    method: str = "GET", *, keep_alive: bool = True, write_paused: bool = False
) -> RequestResponseCycle:
    return RequestResponseCycle(
        scope=cast("Any", {"method": method}),
        transport=Mock(),
        flow=Mock(write_paused=write_paused),
        logger=Mock(),
        access_logger=Mock(),
        access_log=False,
        default_headers=[(b"date", b"today")],
        message_event=asyncio.Event(),
        expect_100_continue=False,
        keep_alive=keep_alive,
        on_response=Mock(),
    )


def sent(one: RequestResponseCycle, fields: list[tuple[bytes, bytes]] = FIELDS) -> tuple[bool, Wire]:
    wire = Wire()
    return send_whole(one, cast("asyncio.Transport", wire), 200, fields, b"{}"), wire


def test_head_and_body_leave_in_one_write_and_the_next_request_may_come() -> None:
    one = cycle()
    done, wire = sent(one)
    assert (done, one.response_complete, wire.closed) == (True, True, False)
    head = b"HTTP/1.1 200 OK\r\ndate: today\r\ncontent-length: 2\r\ncontent-type: application/json"
    assert wire.written == head + b"\r\n\r\n{}"
    cast("Mock", one.on_response).assert_called_once()


def test_the_last_response_of_a_connection_says_so() -> None:
    done, wire = sent(cycle(keep_alive=False))
    assert (done, wire.closed) == (True, True)
    assert b"\r\nconnection: close\r\n\r\n" in wire.written


def test_nothing_is_written_for_a_client_that_has_left() -> None:
    one = cycle()
    one.disconnected = True
    assert sent(one)[1].written == b""


@pytest.mark.parametrize(
    "one", [cycle("HEAD"), cycle(write_paused=True)], ids=["no body", "the client does not read"]
)
def test_what_needs_more_than_one_write_goes_by_asgi(one: RequestResponseCycle) -> None:
    done, wire = sent(one)
    assert (done, wire.written, one.response_started) == (False, b"", False)


def test_a_field_that_would_end_another_is_not_sent() -> None:
    done, wire = sent(cycle(), [*FIELDS, (b"location", b"/x\r\nset-cookie: a")])
    assert (done, wire.written) == (False, b"")


async def test_a_long_body_is_sent_in_blocks_that_wait_for_the_client() -> None:
    messages: list[Message] = []

    async def send(message: Message) -> None:
        messages.append(message)

    whole = Mock(return_value=True)
    sending, long = Sending(send, {WHOLE: whole}), Response(b"x" * 700_000)
    assert not sending.whole(long)
    await long({"type": "http"}, Mock(), sending)
    assert [len(message.get("body", b"")) for message in messages] == [0, 262_144, 262_144, 175_712]
    assert [message.get("more_body", False) for message in messages] == [False, True, True, False]
    assert not sending.whole(StreamingResponse(Mock()))
    assert sending.whole(Response(b"short"))
    whole.assert_called_once()
