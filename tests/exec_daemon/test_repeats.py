"""A request that is read by its likeness to one before is answered as if it had been parsed, to the byte."""

from __future__ import annotations

import inspect
import json
import re
import ssl
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from exec_daemon import DaemonLimits
from exec_daemon.protocol import Protocol
from exec_daemon.repeats import Pattern, Repeated, pattern_of
from tests.exec_daemon.attacks._awaits import AWAITS
from tests.exec_daemon.conftest import UNLIMITED, Running
from tests.exec_daemon.test_protocol import connect
from tests.patience import until

HEAD = b"POST /exec HTTP/1.1\r\nHost: localhost\r\ncontent-length: %d\r\nX: y\r\n\r\n"
LOOK = b'{"op":"tools.list","args":{"filter":"job.get"}}'
MOST_BYTES = 2_000


def whole(body: bytes, head: bytes = HEAD) -> bytes:
    return head % len(body) + body


def test_a_likened_request_has_all_that_uvicorn_gives_to_one_that_it_parsed() -> None:
    """`Repeated` is made without uvicorn's `__init__`: what a release adds there, it must have too."""
    parts = inspect.signature(RequestResponseCycle).parameters
    parsed = RequestResponseCycle(**{name: Mock() for name in parts})
    likened = Repeated(Mock(), {}, b"{}")
    lacks = {name for name in vars(parsed) if not hasattr(likened, name)}
    assert lacks == {"access_logger"}
    assert not likened.access_log


# Reading: what is like the first, and what is not.


@given(st.binary(min_size=1, max_size=300), st.binary(min_size=1, max_size=300))
def test_a_head_is_known_again_with_a_body_of_any_length(first: bytes, second: bytes) -> None:
    pattern = pattern_of(whole(first))
    assert pattern is not None
    assert pattern.match(whole(second)) == (b"%d" % len(second), second)


@given(st.data(), st.integers(0, 255))
def test_a_head_with_another_byte_is_another_head(data: st.DataObject, byte: int) -> None:
    pattern, head = pattern_of(whole(LOOK)), HEAD % len(LOOK)
    assert pattern is not None
    place = data.draw(st.integers(0, len(head) - 1))
    changed = head[:place] + bytes([byte]) + head[place + 1 :]
    assert pattern.match(changed + LOOK) == ((b"%d" % len(LOOK), LOOK) if changed == head else None)


@pytest.mark.parametrize(
    "piece",
    [
        b"",
        whole(LOOK)[:-1],
        whole(LOOK) + b" ",
        whole(LOOK) + whole(LOOK),
        b"\r\n" + whole(LOOK),
        whole(LOOK)[:20],
        whole(LOOK)[: len(HEAD)],
        whole(b""),
        HEAD.replace(b"%d", b"+47") + LOOK,
        HEAD.replace(b"%d", b"47 ") + LOOK,
        HEAD.replace(b"%d", b"0x2f") + LOOK,
        HEAD.replace(b"%d", b"") + LOOK,
        HEAD.replace(b"%d", "٤٧".encode()) + LOOK,
        HEAD.replace(b"%d", b"0000000047") + LOOK,
        HEAD.replace(b"%d", b"47, 47") + LOOK,
        HEAD.replace(b"%d", b"47\r\ncontent-length: 47") + LOOK,
        HEAD.replace(b"%d", b"47\r\ntransfer-encoding: chunked") + LOOK,
    ],
)
def test_what_is_not_one_whole_request_like_the_first_goes_to_the_parser(piece: bytes) -> None:
    pattern = pattern_of(whole(LOOK))
    assert pattern is not None
    assert pattern.match(piece) is None


@pytest.mark.parametrize(
    "piece",
    [
        b"",
        b"\r\n\r\n",
        b"\r\n" + whole(LOOK),
        whole(b""),
        whole(LOOK)[:-1],
        whole(LOOK) + b" ",
        HEAD.replace(b"content-length: %d\r\n", b"") + LOOK,
        HEAD.replace(b"content-length: %d", b"Transfer-Encoding: chunked") + b"1\r\nx\r\n0\r\n\r\n",
        HEAD.replace(b"content-length", b"x-content-length") % len(LOOK) + LOOK,
        HEAD.replace(b"content-length", b" content-length") % len(LOOK) + LOOK,
        HEAD.replace(b"X: y", b"X: %s" % (b"y" * 9_000)) % len(LOOK) + LOOK,
    ],
)
def test_only_a_whole_request_with_a_body_of_known_length_is_a_pattern(piece: bytes) -> None:
    assert pattern_of(piece) is None


def test_a_field_that_says_content_length_in_its_value_is_none() -> None:
    head = HEAD.replace(b"X: y", b"X: content-length: 9")
    assert pattern_of(whole(LOOK, head)) == Pattern(
        b"POST /exec HTTP/1.1\r\nHost: localhost\r\ncontent-length: ",
        b"\r\nX: content-length: 9\r\n\r\n",
    )


# Answering, by both ways: behind an empty line, which is none of the request (RFC 9112 2.2), it is parsed.


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    from tests.exec_daemon.conftest import start

    limits = DaemonLimits(rates=UNLIMITED, dm_pair_per_min=0, max_call_bytes=MOST_BYTES)
    begun = start(tmp_path_factory.mktemp("home"), limits=limits, origins=("https://page.example",), **AWAITS)
    begun.agent("heron")
    yield begun
    begun.stop()


def fields_of(token: str, *more: bytes, path: bytes = b"/exec") -> bytes:
    lines = [
        b"POST %s HTTP/1.1" % path,
        b"Host: localhost",
        b"Authorization: Bearer %s" % token.encode(),
        b"Content-Type: application/json",
        *more,
        b"Content-Length: %d\r\n\r\n",
    ]
    return b"\r\n".join(lines)


def answer(connection: ssl.SSLSocket) -> bytes:
    received = b""
    while b"\r\n\r\n" not in received:
        piece = connection.recv(65536)
        if not piece:
            return received
        received += piece
    head, _, body = received.partition(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", head)
    while length and len(body) < int(length[1]):
        body += connection.recv(65536)
    return head + b"\r\n\r\n" + body


# What differs between any two answers to the same request.
_NAMES = re.compile(rb"(job|call)-[0-9a-f]+|\"duration_ms\":[0-9.e-]+|\ndate: [^\r]+|content-length: \d+")


def alike(answered: bytes) -> bytes:
    return _NAMES.sub(b"?", answered)


def protocols(running: Running) -> list[Protocol]:
    held = running.daemon._server.server_state.connections  # type: ignore[union-attr]
    return [one for one in held if isinstance(one, Protocol)]


def ways(running: Running, head: bytes, body: bytes) -> tuple[bytes, bytes, bytes]:
    """The first answer to this head, one to `body` that was parsed, and one that was not."""
    for client in running.opened:
        client.close()
    until(lambda: not protocols(running))
    with connect(running) as connection:
        connection.sendall(whole(LOOK, head))
        first = answer(connection)
        connection.sendall(b"\r\n" + whole(body, head))
        parsed = answer(connection)
        assert not isinstance(protocols(running)[0].cycle, Repeated)
        connection.sendall(whole(body, head))
        likened = answer(connection)
        assert isinstance(protocols(running)[0].cycle, Repeated)
    return first, parsed, likened


BODIES: dict[str, bytes] = {
    "a call": LOOK,
    "a call of another op": b'{"op":"box.exec","args":{"action":"load"}}',
    "an op that is not there": b'{"op":"no.such"}',
    "arguments that are wrong": b'{"op":"tools.list","args":{"filter":7}}',
    "a dry run": b'{"op":"tools.list","dry_run":true}',
    "somebody's behalf without a thread": b'{"op":"tools.list","on_behalf_of":"heron"}',
    "somebody's behalf": b'{"op":"tools.list","on_behalf_of":"heron","thread":"t","reply":"r"}',
    "a field too many": b'{"op":"tools.list","more":1}',
    "no object": b"[1]",
    "a digit": b"1",
    "no JSON": b"nonsense",
    "half a text": b'{"op":"tools.list',
    "a name twice": b'{"op":"tools.list","op":"tools.list"}',
    "NaN": b'{"op":"tools.list","args":{"filter":NaN}}',
    "no UTF-8": b'{"op":"\xff"}',
    "U+0000": b'{"op":"tools.list","args":{"filter":"\\u0000"}}',
    "half a surrogate": b'{"op":"tools.list","args":{"filter":"\\ud800"}}',
    "too deep": b'{"op":"tools.list","args":' + b'{"a":' * 200 + b"1" + b"}" * 201,
    "too long": b'{"op":"tools.list","args":{"filter":"' + b"x" * MOST_BYTES + b'"}}',
    "as long as may be": b'{"op":"tools.list"}'.ljust(MOST_BYTES),
    "a line end and a request": b"\r\n\r\nPOST /exec HTTP/1.1\r\n\r\n",
    "a wrong digest": json.dumps({"op": "tools.list", "op_digest": "0" * 64}).encode(),
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES.keys())
def test_a_body_has_the_same_answer_by_both_ways(running: Running, body: bytes) -> None:
    first, parsed, likened = ways(running, fields_of(running.token("operator")), body)
    assert first.startswith(b"HTTP/1.1 200 OK\r\n")
    assert alike(likened) == alike(parsed)


HEADS: dict[str, tuple[bytes, ...]] = {
    "nothing more": (),
    "an origin that may": (b"Origin: https://page.example",),
    "an origin that may not": (b"Origin: https://evil.example",),
    "across sites": (b"Sec-Fetch-Site: cross-site",),
    "another host, twice": (b"Host: evil.example",),
    "two tokens": (b"Authorization: Bearer x",),
    "a packed body": (b"Content-Encoding: gzip",),
    "two types": (b"Content-Type: text/plain",),
    "a wish": (b"Prefer: respond-async",),
    "a wish to wait": (b"Prefer: wait=5",),
    "a trace": (b"traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",),
    "forwarded": (b"X-Forwarded-For: 1.2.3.4", b"Forwarded: for=1.2.3.4"),
    "kept": (b"Connection: keep-alive",),
    "a cookie": (b"Cookie: __Host-inband=x",),
    "many fields": tuple(b"X-%d: y" % number for number in range(500)),
}


@pytest.mark.parametrize("more", HEADS.values(), ids=HEADS.keys())
@pytest.mark.parametrize("body", [LOOK, b"nonsense"])
def test_a_head_has_the_same_answer_by_both_ways(
    running: Running, more: tuple[bytes, ...], body: bytes
) -> None:
    _, parsed, likened = ways(running, fields_of(running.token("operator"), *more), body)
    assert alike(likened) == alike(parsed)


OTHER_FIELDS: dict[str, tuple[bytes, bytes, bytes]] = {
    "another name": (b"Host: localhost", b"Host: evil.example", b" 421 "),
    "no type": (b"Content-Type: application/json", b"X: y", b" 415 "),
    "no token": (b"Authorization", b"X-Authorization", b" 401 "),
    "an unknown token": (b"Bearer ", b"Bearer x", b" 401 "),
    "another scheme": (b"Bearer ", b"Basic ", b" 401 "),
}


@pytest.mark.parametrize(("before", "behind", "status"), OTHER_FIELDS.values(), ids=OTHER_FIELDS.keys())
def test_a_refusal_is_the_same_by_both_ways(
    running: Running, before: bytes, behind: bytes, status: bytes
) -> None:
    head = fields_of(running.token("operator")).replace(before, behind)
    first, parsed, likened = ways(running, head, LOOK)
    assert status in first.partition(b"\r\n")[0]
    assert alike(likened) == alike(parsed) == alike(first)


@pytest.mark.parametrize(
    "more",
    [(b"Connection: close",), (b"Expect: 100-continue",)],
    ids=["the last one", "who waits for a 100"],
)
def test_what_is_more_than_a_request_is_never_likened(running: Running, more: tuple[bytes, ...]) -> None:
    head = fields_of(running.token("operator"), *more)
    with connect(running) as connection:
        for _ in range(2):
            connection.sendall(whole(LOOK, head))
            assert b"HTTP/1.1 " in answer(connection)
            assert not any(isinstance(one.cycle, Repeated) for one in protocols(running))
            if b"close" in more[0]:
                assert connection.recv(1) == b""
                break


def test_another_path_is_parsed_each_time(running: Running) -> None:
    head = fields_of(running.token("operator"), path=b"/why")
    with connect(running) as connection:
        for _ in range(3):
            connection.sendall(whole(b'{"identity":"operator/local","op":"tools.list"}', head))
            assert b"HTTP/1.1 200" in answer(connection)
    assert not any(isinstance(one.cycle, Repeated) for one in protocols(running))


def test_a_token_that_is_revoked_counts_no_more_on_a_connection_that_stands(running: Running) -> None:
    made = running.bearing(running.token("operator"))
    token = made.post("/tokens", json={"identity": "viewer/eve"}).json()
    head = fields_of(token["token"])
    with connect(running) as connection:
        for _ in range(2):
            connection.sendall(whole(LOOK, head))
            assert answer(connection).startswith(b"HTTP/1.1 200")
        assert made.delete(f"/tokens/{token['id']}").status_code in (200, 204)
        connection.sendall(whole(LOOK, head))
        assert answer(connection).startswith(b"HTTP/1.1 401")


def test_log_and_counts_are_the_same_by_both_ways(running: Running) -> None:
    head = fields_of(running.token("operator"))

    def counted() -> tuple[float, float]:
        text = running.bearing(running.token("operator")).get("/metrics").text
        requests = re.search(r'inband_requests_total{method="POST",path="/exec",status="200"} (\S+)', text)
        calls = re.search(r'inband_calls_total{code="OK",op="tools.list"} (\S+)', text)
        assert requests
        assert calls
        return float(requests[1]), float(calls[1])

    ways(running, head, LOOK)
    before = counted()
    ways(running, head, LOOK)
    assert counted() == (before[0] + 3, before[1] + 3)

    def said() -> set[str]:
        """By the lines of those six, but for the time and what each took."""
        lines = (running.home / "daemon.log").read_text().splitlines()
        asked = [line for line in lines if " /exec " in line]
        return {re.sub(r"^\S+|[0-9.]+ms", "?", line) for line in asked[-6:]}

    until(lambda: len(said()) == 1)  # the log is written behind the answer
    assert said().pop().endswith("POST /exec 200 ? operator/local")


# In between: what is sent while another is answered, or while something stands unread before it.


def test_a_request_that_waits_is_answered_before_the_next_one(running: Running, tmp_path: Path) -> None:
    head, file = fields_of(running.token("operator")), tmp_path / "now"
    waiting = json.dumps({"op": "my.await", "args": {"file": str(file)}}).encode()
    with connect(running) as connection:
        connection.sendall(whole(LOOK, head))
        answer(connection)
        connection.sendall(whole(waiting, head))
        until(lambda: any(isinstance(one.cycle, Repeated) for one in protocols(running)))
        connection.sendall(whole(LOOK, head) + whole(b"nonsense", head))
        file.touch()
        received = [answer(connection)]
        while sum(piece.count(b"HTTP/1.1 ") for piece in received) < 3:
            received.append(answer(connection))
    answered = b"".join(received)
    places = [answered.find(part) for part in (b'"my.await"', b'"tools.list"', b"not a strict JSON")]
    assert places == sorted(places)
    assert -1 not in places


def test_an_empty_line_and_a_late_request_have_the_time_of_one_head(start_daemon: Callable[..., Any]) -> None:
    """The deadline that an empty line has begun ends with the request behind it."""
    from exec_daemon.settings import WireLimits

    running = start_daemon(limits=DaemonLimits(rates=UNLIMITED, wire=WireLimits(head_s=1.0)))
    head = fields_of(running.token("operator"))
    running.hang_up()
    with connect(running) as connection:
        connection.sendall(whole(LOOK, head))
        answer(connection)
        connection.sendall(b"\r\n")
        until(lambda: any(one._deadline.due_s for one in protocols(running)))
        connection.sendall(whole(LOOK, head))
        assert answer(connection).startswith(b"HTTP/1.1 200")
        assert [one._deadline.due_s for one in protocols(running)] == [None]


def test_a_stop_ends_the_connection_behind_the_answer_to_a_likened_request(
    start_daemon: Callable[..., Any], tmp_path: Path
) -> None:
    running = start_daemon(**AWAITS)
    head, file = fields_of(running.token("operator")), tmp_path / "now"
    waiting = json.dumps({"op": "my.await", "args": {"file": str(file)}}).encode()
    running.hang_up()
    with connect(running) as connection:
        connection.sendall(whole(LOOK, head))
        answer(connection)
        connection.sendall(whole(waiting, head))
        until(lambda: any(isinstance(one.cycle, Repeated) for one in protocols(running)))
        running.daemon.stop()
        until(lambda: not protocols(running)[0].cycle.keep_alive)
        file.touch()
        last = answer(connection)
        assert last.startswith(b"HTTP/1.1 200")
        assert b"\r\nconnection: close\r\n" in last
        assert connection.recv(1) == b""
