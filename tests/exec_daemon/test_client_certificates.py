"""Who a client certificate makes somebody, over real TLS; and that whatever is unclear makes nobody."""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.requests import Request

from exec_daemon.api.asker import asker_of
from exec_daemon.api.problems import Refused
from exec_daemon.certificates.authority import Authority
from exec_daemon.home import Home
from tests.exec_daemon.certified import SERVER, client_with, context_with, forged, issued, serial_of
from tests.patience import PATIENCE_S, in_time


def test_a_certificate_makes_its_bearer_the_identity_that_it_names(daemon: Any, tmp_path: Path) -> None:
    with client_with(daemon, issued(daemon.home, "viewer/eve"), tmp_path) as eve:
        assert eve.get("/ops").status_code == 200
        refused = eve.get("/tokens")
    assert (refused.status_code, "viewer/eve may not" in refused.json()["detail"]) == (403, True)


def test_the_common_name_makes_nobody(daemon: Any, tmp_path: Path) -> None:  # D070
    mallory = forged(daemon.home, uris=("inband:viewer/mallory",), common="operator/local")
    with client_with(daemon, mallory, tmp_path) as client:
        assert "viewer/mallory may not" in client.get("/tokens").json()["detail"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"uris": ()},
        {"dns": ("operator.local",)},
        {"uris": ("inband:operator/local", "inband:agent/heron")},
        {"uris": ("inband:operator/local", "inband:operator/local")},
        {"uris": ("INBAND:operator/local", "inband:viewer/eve")},
        {"uris": ("inband:operator/*",)},
        {"uris": ("inband:root/local",)},
        {"uris": ("inband:operator/local/x",)},
        {"uris": ("inband://operator/local",)},
        {"uris": ("spiffe://example/operator/local",)},
        {"uris": ("inband:operator/local",), "usages": None},
        {"uris": ("inband:operator/local",), "names_signer": False},
    ],
)
def test_a_certificate_that_does_not_name_exactly_one_identity_names_nobody(
    daemon: Any, tmp_path: Path, wrong: dict[str, Any]
) -> None:  # D071
    token = daemon.token("operator")
    for also in ("", token):  # no token makes up for it
        with client_with(daemon, forged(daemon.home, **wrong), tmp_path, also) as client:
            answer = client.get("/ops")
            assert (answer.status_code, answer.json()["code"]) == (401, "UNAUTHENTICATED")
            assert "counts for nobody" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("wrong", "alert"),
    [
        ({"usages": (SERVER,)}, "unsupported certificate"),
        ({"life": timedelta(minutes=-1)}, "certificate expired"),
        ({"home": None}, "unknown ca"),
    ],
)
@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_what_openssl_refuses_gets_no_handshake_and_is_told_why(
    daemon: Any, tmp_path: Path, wrong: dict[str, Any], alert: str, version: ssl.TLSVersion
) -> None:  # D069 D070
    made = forged(**({"home": daemon.home, "uris": ("inband:operator/local",)} | wrong))
    context = context_with(daemon, made, tmp_path)
    context.maximum_version = version
    with (
        httpx2.Client(base_url=daemon.url, verify=context) as client,
        pytest.raises(httpx2.TransportError, match=alert),
    ):
        client.get("/ops")


def test_the_daemons_own_certificate_is_no_clients(daemon: Any) -> None:  # D070
    context = ssl.create_default_context(cafile=daemon.home / "ca.pem")
    context.load_cert_chain(daemon.home / "server.pem", daemon.home / "server.key")
    with (
        httpx2.Client(base_url=daemon.url, verify=context) as client,
        pytest.raises(httpx2.TransportError),
    ):
        client.get("/healthz")


def test_a_token_beside_a_certificate_has_to_be_of_the_same_identity(daemon: Any, tmp_path: Path) -> None:
    made = daemon.client("operator").post("/tokens", json={"identity": "viewer/eve", "scopes": ["tools.*"]})
    pair = issued(daemon.home, "viewer/eve")
    with client_with(daemon, pair, tmp_path, made.json()["token"]) as eve:
        assert eve.post("/exec", json={"op": "tools.list"}).status_code == 200
        assert eve.post("/exec", json={"op": "box.cpu"}).status_code == 403  # its scopes narrow
    with client_with(daemon, pair, tmp_path, daemon.token("operator")) as mixed:
        answer = mixed.get("/ops")
        assert (answer.status_code, "viewer/eve" in answer.json()["detail"]) == (403, True)
    with client_with(daemon, pair, tmp_path, "inband_wrong") as wrong:
        assert wrong.get("/ops").status_code == 401


def test_a_certificate_that_expires_ends_what_stands_on_its_connection(daemon: Any, tmp_path: Path) -> None:
    def before_and_after(life_s: float) -> list[httpx2.Response]:
        """None where it had expired before it was shown."""
        life = timedelta(seconds=1 + life_s)  # a certificate knows whole seconds
        pair = forged(daemon.home, uris=("inband:viewer/brief",), life=life)
        with client_with(daemon, pair, tmp_path) as client, suppress(httpx2.TransportError):
            before = client.get("/ops")
            time.sleep(life.total_seconds() + 0.1)
            return [before, client.get("/ops")]
        return []

    before, after = in_time(before_and_after, bool)  # D069
    assert before.status_code == 200
    assert (after.status_code, "expired" in after.json()["detail"]) == (401, True)


def test_a_revoked_certificate_is_out_on_open_connections_and_new_ones(
    start_daemon: Callable[..., Any], tmp_path: Path
) -> None:
    running = start_daemon()
    pair, other = issued(running.home, "viewer/eve"), issued(running.home, "viewer/adam")
    running.agent("heron")
    with (
        client_with(running, pair, tmp_path) as eve,
        client_with(running, other, tmp_path) as adam,
        eve.stream("GET", "/threads/heron/stream") as stream,
        adam.stream("GET", "/threads/heron/stream") as going_on,
    ):
        lines, others = stream.iter_lines(), going_on.iter_lines()
        assert (next(lines), next(others)) == (": keep-alive", ": keep-alive")
        began_s = time.monotonic()
        Authority(Home(running.home)).revoke({serial_of(pair[1])})
        with pytest.raises(httpx2.TransportError):
            list(lines)
        assert time.monotonic() - began_s < PATIENCE_S
        with pytest.raises(httpx2.TransportError, match="certificate revoked"):
            eve.get("/ops")
        assert adam.get("/ops").status_code == 200
        running.client("operator").post("/threads/heron/messages", json={"body": "still here"})
        assert any("still here" in line for line in others if line.startswith("data"))


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_session_from_before_the_revocation_is_no_way_in(
    start_daemon: Callable[..., Any], tmp_path: Path, version: ssl.TLSVersion
) -> None:  # D072
    running = start_daemon()
    pair = issued(running.home, "viewer/eve")
    context = context_with(running, pair, tmp_path)
    context.minimum_version = context.maximum_version = version
    before, session = spoken(running, context)
    assert before.startswith(b"HTTP/1.1 200 OK")
    assert session is None or not session.has_ticket
    Authority(Home(running.home)).revoke({serial_of(pair[1])})
    running.reloaded()
    assert spoken(running, context, session)[0] == b""


def spoken(
    running: Any, context: ssl.SSLContext, session: ssl.SSLSession | None = None
) -> tuple[bytes, ssl.SSLSession | None]:
    """The answer to one request, nothing where the connection came to none; and the session for the next."""
    host, port = running.url.removeprefix("https://").rsplit(":", 1)
    with socket.create_connection((host, int(port)), timeout=PATIENCE_S) as raw:
        try:
            with context.wrap_socket(raw, server_hostname=host, session=session) as tls:
                tls.sendall(b"GET /ops HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                return tls.recv(15), tls.session
        except OSError:
            return b"", None


async def test_a_transport_that_says_nothing_makes_nobody(daemon: Any) -> None:
    token = daemon.token("operator")
    headers = [(b"authorization", f"Bearer {token}".encode())]
    for peer in ({}, {"inband.peer": None}, {"inband.peer": "operator/local"}):
        request = Request({"type": "http", "method": "GET", "path": "/ops", "headers": headers} | peer)
        with pytest.raises(Refused) as refused:
            await asker_of(request, None)  # type: ignore[arg-type]
        assert refused.value.error.code == "UNAUTHENTICATED"


def test_a_damaged_certificate_store_changes_nothing_that_stands(
    start_daemon: Callable[..., Any], tmp_path: Path
) -> None:
    running = start_daemon()
    (running.home / "crl.pem").write_text("x")
    running.reloaded("not read again")
    pair = issued(running.home, "viewer/eve")
    with client_with(running, pair, tmp_path) as eve:
        assert eve.get("/ops").status_code == 200
    assert "not read again" in (running.home / "daemon.log").read_text()
