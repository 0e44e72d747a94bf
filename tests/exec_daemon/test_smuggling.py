"""Requests that two programs could take for different ones, over a raw TLS connection: one answer, no second.

The second request of each case is a call that leaves a message; none may be there afterwards (D058).
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from tests.exec_daemon.test_protocol import connect, everything

HEAD = b"POST /threads/heron/messages HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
HIDDEN = b'{"body":"smuggled"}'


def hidden(token: bytes) -> bytes:
    """The request that must not happen."""
    fields = b"Authorization: Bearer %s\r\nContent-Length: %d\r\n\r\n" % (token, len(HIDDEN))
    return HEAD + fields + HIDDEN


AMBIGUOUS = [
    b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
    b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n{}   ",
    b"Content-Length: 5\r\nContent-Length: 5\r\n\r\n{}   ",
    b"Content-Length: 5, 5\r\n\r\n{}   ",
    b"Content-Length: +5\r\n\r\n{}   ",
    b"Content-Length: 0x5\r\n\r\n{}   ",
    b"Content-Length: -1\r\n\r\n",
    b"Content-Length: 5 5\r\n\r\n{}   ",
    b"Content-Length: 99999999999999999999\r\n\r\n",
    b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
    b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
    b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n",
    b"Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n",
    b"Transfer-Encoding: chunked\r\n\r\n0x0\r\n\r\n",
    b"Transfer-Encoding: chunked\r\n\r\n-1\r\n\r\n",
    b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n{}",
    b"Transfer-Encoding: chunked\r\n\r\n2\n{}\n0\n\n",
    b"X: y\r\n Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"X: y\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"X: y\rTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"X\0: y\r\nContent-Length: 2\r\n\r\n{}",
    b"X: y\0\r\nContent-Length: 2\r\n\r\n{}",
    b": y\r\nContent-Length: 2\r\n\r\n{}",
    b"Connection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 2\r\n\r\n{}",
    b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: websocket\r\nContent-Length: 2\r\n\r\n{}",
]

STRANGE_STARTS = [
    b"GET https://localhost/ops HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET //localhost/ops HTTP/9.9\r\nHost: localhost\r\n\r\n",
    b"GET /ops HTTP/0.9\r\nHost: localhost\r\n\r\n",
    b"GET /ops\r\n\r\n",
    b"GET /ops HTTP/1.1 x\r\nHost: localhost\r\n\r\n",
    b"CONNECT localhost:443 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"GET /a b HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"\x16\x03\x01\x00\x05",
    b"POST /exec HTTP/1.0\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
]


def bodies(running: Any) -> list[str]:
    found = running.client("operator").get("/threads/heron/messages").json()["messages"]
    return [message["body"] for message in found]


def answers(received: bytes) -> int:
    return received.count(b"HTTP/1.1 ")


@pytest.mark.parametrize("fields", AMBIGUOUS)
def test_a_request_without_one_clear_end_is_refused_and_nothing_behind_it_read(
    daemon: Any, fields: bytes
) -> None:  # D058
    daemon.agent("heron")
    token = daemon.token("operator").encode()
    with connect(daemon) as connection:
        connection.sendall(HEAD + b"Authorization: Bearer %s\r\n" % token + fields + hidden(token))
        received = everything(connection)
    assert received[:12] == b"HTTP/1.1 400"
    assert answers(received) == 1
    assert bodies(daemon) == []


@pytest.mark.parametrize("start", STRANGE_STARTS)
def test_a_first_line_that_is_not_ours_ends_the_connection(daemon: Any, start: bytes) -> None:  # D065
    daemon.agent("heron")
    with connect(daemon) as connection:
        connection.sendall(start + hidden(daemon.token("operator").encode()))
        received = everything(connection)
    assert received[:12] == b"HTTP/1.1 400"
    assert answers(received) == 1
    assert bodies(daemon) == []


def test_nothing_is_read_behind_a_request_that_ends_its_connection(daemon: Any) -> None:
    daemon.agent("heron")
    first = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    with connect(daemon) as connection:
        connection.sendall(first + hidden(daemon.token("operator").encode()))
        received = everything(connection)
    assert (received[:15], answers(received)) == (b"HTTP/1.1 200 OK", 1)
    assert bodies(daemon) == []


def test_nothing_is_read_behind_a_head_that_is_too_large(daemon: Any) -> None:
    daemon.agent("heron")
    large = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: %s\r\n\r\n" % (b"a" * 66_000)
    with connect(daemon) as connection:
        connection.sendall(large + hidden(daemon.token("operator").encode()))
        received = everything(connection)
    assert (received[:12], answers(received)) == (b"HTTP/1.1 431", 1)
    assert bodies(daemon) == []


def test_clear_requests_in_one_piece_are_answered_in_order(daemon: Any) -> None:
    token = daemon.token("operator").encode()
    one = b"GET /ops/%s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n"
    with connect(daemon) as connection:
        first = one % (b"tools.list", token) + b"\r\n"
        connection.sendall(first + one % (b"dm.send", token) + b"Connection: close\r\n\r\n")
        received = everything(connection)
    assert answers(received) == 2
    assert received.index(b'"tools.list"') < received.index(b'"dm.send"')


def test_an_unclear_request_behind_one_under_way_cuts_into_no_answer(daemon: Any) -> None:
    token = daemon.token("operator").encode()
    one = b"GET /ops HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n" % token
    with connect(daemon) as connection:
        connection.sendall(one + HEAD + AMBIGUOUS[0])
        received = everything(connection)
    assert b"HTTP/1.1 400" not in received[12:]


CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n13\r\n%s\r\n0\r\n" % HIDDEN


@pytest.mark.parametrize("head", [b"", b"Authorization: Bearer nobody's\r\n"])
def test_a_field_behind_a_body_is_none_of_the_head(daemon: Any, head: bytes) -> None:
    """A proxy that looks at the head (RFC 9110 6.5.1) has never seen it."""
    daemon.agent("heron")
    field = b"Authorization: Bearer %s\r\n\r\n" % daemon.token("operator").encode()
    with connect(daemon) as connection:
        connection.sendall(HEAD + head + CHUNKED + field)
        received = everything(connection)
    assert (received[:12], answers(received)) == (b"HTTP/1.1 400", 1)
    assert bodies(daemon) == []


def test_a_call_with_a_field_behind_its_body_does_not_happen(daemon: Any) -> None:
    daemon.agent("heron")
    token = b"Authorization: Bearer %s\r\n" % daemon.token("operator").encode()
    with connect(daemon) as connection:
        connection.sendall(HEAD + token + CHUNKED + b"Idempotency-Key: k\r\n\r\n" + hidden(token))
        assert answers(everything(connection)) == 1
    assert bodies(daemon) == []


def test_only_one_parser_of_http_is_ever_loaded(start_daemon: Callable[..., Any]) -> None:
    """The other one that uvicorn has served both halves of a smuggled request."""
    start_daemon()
    program = (
        "import sys, exec_daemon.server; from exec_daemon.protocol import limited\n"
        "from exec_daemon.settings import WireLimits\n"
        "from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol\n"
        "assert issubclass(limited(WireLimits()), HttpToolsProtocol)\n"
        "print([name for name in sys.modules if name.split('.')[0] == 'h11' or 'h11_impl' in name])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
