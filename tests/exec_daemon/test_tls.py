"""Our own certificates."""

from __future__ import annotations

import socket
import ssl
import stat
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509

from exec_daemon.errors import CertificateUnusable
from exec_daemon.home import Home, prepare
from exec_daemon.tls import CA_LIFE, RENEW_BEFORE, SERVER_LIFE, ensure_certificates
from tests.patience import PATIENCE_S

NOW = datetime(2026, 12, 1, tzinfo=UTC)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return prepare(tmp_path / "home")


def loaded(path: Path) -> x509.Certificate:
    return x509.load_pem_x509_certificate(path.read_bytes())


def test_the_first_start_makes_an_authority_and_a_certificate_of_it(home: Home) -> None:
    ensure_certificates(home, now=NOW)
    ca, server = loaded(home.ca_cert), loaded(home.server_cert)
    server.verify_directly_issued_by(ca)
    assert ca.not_valid_after_utc == NOW + CA_LIFE
    assert server.not_valid_after_utc == NOW + SERVER_LIFE
    names = server.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["localhost"]
    assert [str(ip) for ip in names.get_values_for_type(x509.IPAddress)] == ["127.0.0.1", "::1"]


def test_an_authority_signs_and_a_server_does_not(home: Home) -> None:
    ensure_certificates(home, now=NOW)
    limits = [
        loaded(path).extensions.get_extension_for_class(x509.BasicConstraints).value
        for path in (home.ca_cert, home.server_cert)
    ]
    assert [(limit.ca, limit.path_length) for limit in limits] == [(True, 0), (False, None)]


def test_nobody_else_can_read_the_state(home: Home) -> None:
    ensure_certificates(home, now=NOW)
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in (home.root, *home.root.iterdir())}
    assert {mode for path, mode in modes.items() if path.is_dir()} == {0o700}
    assert {mode for path, mode in modes.items() if path.is_file()} == {0o600}


def test_a_second_start_changes_nothing(home: Home) -> None:
    ensure_certificates(home, now=NOW)
    before = {path: path.read_bytes() for path in home.root.iterdir() if path.is_file()}
    ensure_certificates(home, now=NOW + SERVER_LIFE - RENEW_BEFORE - timedelta(seconds=1))
    assert {path: path.read_bytes() for path in home.root.iterdir() if path.is_file()} == before


@pytest.mark.parametrize("after", [SERVER_LIFE - RENEW_BEFORE, SERVER_LIFE, 2 * SERVER_LIFE])
def test_a_certificate_that_ends_soon_is_renewed_by_the_same_authority(home: Home, after: timedelta) -> None:
    ensure_certificates(home, now=NOW)
    ca, server = home.ca_cert.read_bytes(), loaded(home.server_cert)
    ensure_certificates(home, now=NOW + after)
    renewed = loaded(home.server_cert)
    assert home.ca_cert.read_bytes() == ca
    assert renewed.serial_number != server.serial_number
    assert renewed.not_valid_after_utc == NOW + after + SERVER_LIFE


def test_a_certificate_for_another_name_is_made_anew(home: Home) -> None:
    ensure_certificates(home, now=NOW)
    ensure_certificates(home, ("box.example",), now=NOW)
    names = loaded(home.server_cert).extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert "box.example" in names.get_values_for_type(x509.DNSName)


@pytest.mark.parametrize("damage", ["server_cert", "server_key"])
def test_a_damaged_server_certificate_is_made_anew(home: Home, damage: str) -> None:
    ensure_certificates(home, now=NOW)
    getattr(home, damage).write_text("x")
    ensure_certificates(home, now=NOW)
    loaded(home.server_cert).verify_directly_issued_by(loaded(home.ca_cert))


@pytest.mark.parametrize("damage", ["ca_cert", "ca_key"])
def test_a_damaged_authority_is_refused_and_left_as_it_is(home: Home, damage: str) -> None:
    ensure_certificates(home, now=NOW)
    getattr(home, damage).write_text("x")
    before = {path: path.read_bytes() for path in home.root.iterdir() if path.is_file()}
    with pytest.raises(CertificateUnusable, match=r"Restore .* from a backup"):
        ensure_certificates(home, now=NOW)
    assert {path: path.read_bytes() for path in home.root.iterdir() if path.is_file()} == before


def connect(running: Any, context: ssl.SSLContext, name: str = "localhost") -> str | None:
    host, port = running.url.removeprefix("https://").rsplit(":", 1)
    with (
        socket.create_connection((host, int(port)), timeout=PATIENCE_S) as raw,
        context.wrap_socket(raw, server_hostname=name) as tls,
    ):
        return tls.version()


def test_the_daemon_speaks_tls_13_and_12_and_nothing_older(daemon: Any) -> None:  # O-30 D067
    trusting = ssl.create_default_context(cafile=daemon.home / "ca.pem")
    assert connect(daemon, trusting) == "TLSv1.3"
    trusting.maximum_version = ssl.TLSVersion.TLSv1_2
    assert connect(daemon, trusting) == "TLSv1.2"
    old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
    old.set_ciphers("ALL:@SECLEVEL=0")
    with pytest.warns(DeprecationWarning, match="TLSv1_1"):
        old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_1
    with pytest.raises(ssl.SSLError):
        connect(daemon, old)


@pytest.mark.parametrize("ciphers", ["aNULL:@SECLEVEL=0", "eNULL:@SECLEVEL=0", "RC4:3DES:@SECLEVEL=0"])
def test_the_daemon_takes_no_cipher_without_secrecy_or_identity(daemon: Any, ciphers: str) -> None:  # D067
    weak = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    weak.check_hostname, weak.verify_mode = False, ssl.CERT_NONE
    weak.maximum_version = ssl.TLSVersion.TLSv1_2
    try:
        weak.set_ciphers(ciphers)
    except ssl.SSLError:
        return  # this OpenSSL cannot even offer them
    with pytest.raises((ssl.SSLError, ConnectionError)):
        connect(daemon, weak)


def test_http_2_is_not_spoken(daemon: Any) -> None:  # D065
    both = ssl.create_default_context(cafile=daemon.home / "ca.pem")
    both.set_alpn_protocols(["h2", "http/1.1"])
    host, port = daemon.url.removeprefix("https://").rsplit(":", 1)
    with (
        socket.create_connection((host, int(port)), timeout=PATIENCE_S) as raw,
        both.wrap_socket(raw, server_hostname=host) as tls,
    ):
        assert tls.selected_alpn_protocol() == "http/1.1"


def test_a_client_that_trusts_others_or_asks_for_another_name_is_not_connected(daemon: Any) -> None:
    with pytest.raises(ssl.SSLCertVerificationError):
        connect(daemon, ssl.create_default_context())
    with pytest.raises(ssl.SSLCertVerificationError):
        connect(daemon, ssl.create_default_context(cafile=daemon.home / "ca.pem"), "other.example")


def test_the_authority_outlives_a_restart(start_daemon: Callable[..., Any]) -> None:
    first = start_daemon()
    token, ca = first.token("operator"), (first.home / "ca.pem").read_bytes()
    first.stop()
    second = start_daemon()
    assert (second.token("operator"), (second.home / "ca.pem").read_bytes()) == (token, ca)
    assert second.client("operator").get("/ops").status_code == 200
