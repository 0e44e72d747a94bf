"""TLS against a real server on the loopback: whom the client believes."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any, ClassVar

import pytest
import trustme

from harvester.client import DaemonClient, RetryPolicy
from harvester.errors import BadCertificate, Unavailable
from tests.serving import Serving, Silent

TOKEN = "tok_0123456789"


class _Healthy(Silent, BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    peers: ClassVar[set[Any]] = set()

    def do_GET(self) -> None:
        type(self).peers.add(self.client_address)
        body = b'{"status":"ok"}'
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    ca = trustme.CA()
    ca.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ca.issue_cert("127.0.0.1").configure_cert(context)
    with Serving(_Healthy, context) as server:
        yield f"https://{server.authority}", tmp_path / "ca.pem"


def test_the_right_ca_file_is_enough_and_the_connection_is_kept(served: tuple[str, Path]) -> None:
    url, ca_file = served
    _Healthy.peers.clear()
    with DaemonClient(url, TOKEN, ca_file) as client:
        assert client.health() == {"status": "ok"}
        assert client.health() == {"status": "ok"}
    assert len(_Healthy.peers) == 1


def test_another_ca_is_not_believed_and_the_message_names_the_file(
    served: tuple[str, Path], tmp_path: Path
) -> None:
    other = tmp_path / "other.pem"
    trustme.CA().cert_pem.write_to_path(str(other))
    with DaemonClient(served[0], TOKEN, other) as client, pytest.raises(BadCertificate, match=r"other\.pem"):
        client.health()


def test_a_certificate_for_another_host_is_not_believed(served: tuple[str, Path]) -> None:
    url = served[0].replace("127.0.0.1", "localhost")
    with DaemonClient(url, TOKEN, served[1]) as client, pytest.raises(BadCertificate):
        client.health()


@pytest.mark.parametrize(("content", "problem"), [(None, "does not exist"), ("hello", "PEM")])
def test_a_ca_file_that_is_none_is_named(tmp_path: Path, content: str | None, problem: str) -> None:
    file = tmp_path / "ca.pem"
    if content is not None:
        file.write_text(content)
    with pytest.raises(BadCertificate, match=problem) as caught:
        DaemonClient("https://127.0.0.1:1", TOKEN, file)
    assert caught.value.ca_file == str(file)


def test_a_port_where_nobody_listens_is_unavailable(served: tuple[str, Path]) -> None:
    retry = RetryPolicy(attempts=1)
    client = DaemonClient("https://127.0.0.1:1", TOKEN, served[1], retry=retry)
    with client, pytest.raises(Unavailable, match="box up"):
        client.health()
