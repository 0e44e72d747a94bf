"""What a stranger can make the daemon hold: heads and bodies that are too large or never end."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest

from exec_daemon import DaemonLimits
from exec_daemon.settings import WireLimits
from tests.patience import PATIENCE_S

SHORT = DaemonLimits(wire=WireLimits(head_s=0.3, body_s=0.3, goodbye_s=0.05))
JSON_HEAD = b"POST /exec HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
PATIENT = DaemonLimits(wire=WireLimits(head_s=30, body_s=30))


def connect(running: Any) -> ssl.SSLSocket:
    address = urlsplit(running.url)
    context = ssl.create_default_context(cafile=running.home / "ca.pem")
    plain = socket.create_connection((address.hostname, address.port), timeout=PATIENCE_S)
    return context.wrap_socket(plain, server_hostname=address.hostname)


def everything(connection: ssl.SSLSocket) -> bytes:
    """What comes until the daemon closes the connection."""
    received = bytearray()
    try:
        while piece := connection.recv(65536):
            received += piece
    except (ConnectionError, ssl.SSLError):  # closed without the goodbyes of TLS
        pass
    return bytes(received)


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        b"\r\n",
        b"GET /heal",
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: ",
        b"POST /exec HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{",
        b"POST /exec HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n",
    ],
)
def test_a_request_that_never_ends_ends_its_connection(
    start_daemon: Callable[..., Any], sent: bytes
) -> None:  # D047 D048
    running = start_daemon(limits=SHORT)
    with connect(running) as connection:
        connection.sendall(sent)
        assert b"408 Request Timeout" in everything(connection)
    assert running.client("operator").get("/healthz").status_code == 200


def test_a_client_that_sends_a_byte_now_and_then_has_no_more_time(
    start_daemon: Callable[..., Any],
) -> None:  # D047
    running = start_daemon(limits=SHORT)
    with connect(running) as connection:
        connection.settimeout(0.05)
        connection.sendall(b"GET /healthz HTTP/1.1\r\n")
        received = b""
        for _ in range(200):
            try:
                received = connection.recv(100)
                break
            except TimeoutError:
                connection.sendall(b"X: y\r\n")
        assert received.startswith(b"HTTP/1.1 408 ")


@pytest.mark.parametrize(
    "head",
    [
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: %s\r\n\r\n" % (b"a" * 70_000),
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n%s\r\n" % (b"X: y\r\n" * 12_000),
        b"GET /%s HTTP/1.1\r\nHost: localhost\r\n\r\n" % (b"a" * 66_000),
        b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: %s" % (b"a" * 400_000),
    ],
)
def test_a_head_has_a_limit_in_bytes(start_daemon: Callable[..., Any], head: bytes) -> None:  # D063
    running = start_daemon(limits=PATIENT)
    with connect(running) as connection:
        for start in range(0, len(head), 10_000):
            try:
                connection.sendall(head[start : start + 10_000])
            except OSError:
                break
        assert b" 431 " in everything(connection)
    assert running.client("operator").get("/healthz").status_code == 200


def test_a_body_that_comes_slowly_but_in_time_is_read(start_daemon: Callable[..., Any]) -> None:
    running = start_daemon(limits=PATIENT)
    with connect(running) as connection:
        token = running.token("operator").encode()
        connection.sendall(JSON_HEAD + b"Connection: close\r\nAuthorization: Bearer %s\r\n" % token)
        connection.sendall(b"Content-Length: 19\r\n\r\n")
        for byte in b'{"op":"tools.list"}':
            connection.sendall(bytes([byte]))
        assert everything(connection).startswith(b"HTTP/1.1 200 OK")


def test_a_large_body_in_one_piece_is_no_large_head(start_daemon: Callable[..., Any]) -> None:
    running = start_daemon(limits=PATIENT)
    request = JSON_HEAD + b"Content-Length: 100000\r\n\r\n" + b" " * 100_000
    with connect(running) as connection:
        for _ in range(3):
            connection.sendall(request)
            received = b""
            while not received.endswith(b"}}"):
                received += connection.recv(65536)
            assert received.startswith(b"HTTP/1.1 401 ")


@pytest.mark.parametrize("path", [b"/exec", b"/nowhere"])
@pytest.mark.parametrize("beside", [b"1;%s", b"0\r\nX: %s", b"1\r\n \r\n0\r\n%s"])
def test_what_stands_beside_a_body_has_a_limit_in_bytes(
    start_daemon: Callable[..., Any], path: bytes, beside: bytes
) -> None:
    """Words behind the length of a chunk, fields behind the last one: no body, and kept by the parser."""
    running = start_daemon(limits=PATIENT)
    head = JSON_HEAD.replace(b"/exec", path) + b"Transfer-Encoding: chunked\r\n\r\n"
    sent = 0
    with connect(running) as connection:
        connection.sendall(head)
        try:
            connection.sendall(beside % b"a")
            for sent in range(100):  # noqa: B007 - how far it came
                connection.sendall(b"a" * 65536)
        except (ConnectionError, ssl.SSLError):
            pass
    assert sent < 99


def test_a_body_in_the_smallest_chunks_is_read(start_daemon: Callable[..., Any]) -> None:
    running = start_daemon(limits=PATIENT)
    token = running.token("operator").encode()
    head = JSON_HEAD + b"Connection: close\r\nAuthorization: Bearer %s\r\n" % token
    body = b'{"op":"tools.list"}' + b" " * 100_000
    chunks = b"".join(b"001\r\n%c\r\n" % byte for byte in body)
    with connect(running) as connection:
        connection.sendall(head + b"Transfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n")
        assert everything(connection).startswith(b"HTTP/1.1 200 OK")


def test_a_stream_outlives_the_limits_of_requests(start_daemon: Callable[..., Any]) -> None:
    running = start_daemon(limits=DaemonLimits(keep_alive_s=0.2, wire=SHORT.wire))
    running.agent("heron")
    with running.client("operator").stream("GET", "/threads/heron/stream") as stream:
        lines = [line for line, _ in zip(stream.iter_lines(), range(10), strict=False)]
    assert lines.count(": keep-alive") == 5
