"""How many may come in: connections without a handshake, connections in all, requests of one identity."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

import pytest

from exec_daemon import DaemonLimits
from exec_daemon.access.identity import Identity, Role
from exec_daemon.places import Places
from exec_daemon.settings import WireLimits
from messaging import CallError
from tests.exec_daemon.conftest import UNLIMITED
from tests.exec_daemon.test_protocol import connect, everything
from tests.patience import AGES_S, PATIENCE_S, until

GET = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
EVE = Identity(Role.VIEWER, "eve")


def limits(places: dict[str, int] | None = None, **wire: Any) -> DaemonLimits:
    return DaemonLimits(rates=UNLIMITED, dm_pair_per_min=0, wire=WireLimits(**wire), **(places or {}))


def raw(running: Any) -> socket.socket:
    address = urlsplit(running.url)
    return socket.create_connection((address.hostname, address.port), timeout=PATIENCE_S)


def test_connections_without_a_handshake_make_room_for_one_with(start_daemon: Callable[..., Any]) -> None:
    running = start_daemon(limits=limits(most_handshakes=20, handshake_s=60.0))  # D049
    silent = [raw(running) for _ in range(60)]
    try:
        assert running.client("operator").get("/healthz").status_code == 200
        for one in silent[:30]:
            assert one.recv(1) == b""  # those that waited longest went
        silent[-1].settimeout(0.05)
        with pytest.raises(TimeoutError):
            silent[-1].recv(1)
    finally:
        for one in silent:
            one.close()


def test_a_connection_without_a_handshake_ends_in_time(start_daemon: Callable[..., Any]) -> None:  # D049
    running = start_daemon(limits=limits(handshake_s=0.2))
    with raw(running) as silent:
        assert silent.recv(1) == b""


def test_a_connection_more_than_fit_takes_the_place_of_the_quietest(start_daemon: Callable[..., Any]) -> None:
    running = start_daemon(limits=limits(most_connections=3))
    first = connect(running)
    others = []
    for _ in range(4):
        others.append(connect(running))
        others[-1].sendall(GET)
        assert others[-1].recv(65536).startswith(b"HTTP/1.1 200")
    assert everything(first) == b""
    for one in (first, *others):
        one.close()


def test_where_all_are_busy_the_next_is_told_to_come_later(start_daemon: Callable[..., Any]) -> None:
    running = start_daemon(limits=limits(most_connections=2))  # D133
    running.agent("heron")
    token = running.token("operator")
    for client in running.clients.values():
        client.close()
    running.clients.clear()
    ask = f"GET /threads/heron/stream HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\r\n"
    busy = [connect(running), connect(running)]
    for one in busy:
        one.sendall(ask.encode())
        received = b""
        while b"keep-alive" not in received:
            received += one.recv(65536)
    with connect(running) as late:
        assert everything(late).startswith(b"HTTP/1.1 503 Service Unavailable\r\n")
    for one in busy:
        one.close()


def test_streams_of_one_identity_are_counted_and_others_are_not(start_daemon: Callable[..., Any]) -> None:
    running = start_daemon(limits=limits({"most_streams": 2}))
    running.agent("heron")
    operator, viewer = running.client("operator"), running.client("viewer/eve")
    path = "/threads/heron/stream"
    with operator.stream("GET", path) as one, operator.stream("GET", path) as two:
        assert (one.status_code, two.status_code) == (200, 200)
        third = operator.get(path)
        assert (third.status_code, third.json()["code"], third.headers["retry-after"]) == (503, "BUSY", "1")
        assert operator.get("/threads").status_code == 200
        with viewer.stream("GET", path) as another:
            assert another.status_code == 200

    def free() -> bool:
        """As soon as the daemon has seen that the client left."""
        with operator.stream("GET", path) as again:
            return bool(again.status_code == 200)

    assert until(free)


def test_places_are_freed_once_each() -> None:
    places = Places(most_open=2, most_streams=1)
    first, second = places.take(EVE, stays=False), places.take(EVE, stays=False)
    assert not isinstance(first, CallError)
    assert not isinstance(second, CallError)
    refused = places.take(EVE, stays=False)
    assert isinstance(refused, CallError)
    assert (refused.code, refused.retryable, refused.details["most"]) == ("BUSY", True, 2)
    assert not isinstance(places.take(EVE, stays=True), CallError)
    first()
    assert not isinstance(places.take(EVE, stays=False), CallError)


def test_a_client_that_reads_nothing_is_left(start_daemon: Callable[..., Any]) -> None:
    running = start_daemon(limits=limits(stalled_s=0.3, goodbye_s=0.05))
    running.agent("heron")
    for _ in range(14):  # more than the kernel keeps for a connection
        body = {"body": "x" * 1_000_000}
        assert running.client("operator").post("/threads/heron/messages", json=body).status_code == 201
    with connect(running) as deaf:
        fields = f"Host: localhost\r\nAuthorization: Bearer {running.token('operator')}\r\n\r\n"
        deaf.sendall(f"GET /threads/heron/messages HTTP/1.1\r\n{fields}".encode())
        held = running.daemon._server.server_state.connections
        assert until(lambda: len(held) <= 1)


def test_a_stop_waits_for_no_client_that_only_sits_there(start_daemon: Callable[..., Any]) -> None:  # D129
    running = start_daemon(limits=limits({"drain_s": int(AGES_S)}, handshake_s=AGES_S, idle_s=AGES_S))
    silent, idle = raw(running), connect(running)
    idle.sendall(GET)
    assert idle.recv(65536).startswith(b"HTTP/1.1 200")
    began_s = time.monotonic()
    running.stop()
    assert time.monotonic() - began_s < PATIENCE_S
    silent.close()
    idle.close()
