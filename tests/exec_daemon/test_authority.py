"""Our authority: what it writes into certificates, and that a lost list of revocations is not made up."""

from __future__ import annotations

import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from exec_daemon import DaemonSettings, serve
from exec_daemon.access.identity import Identity, Role
from exec_daemon.certificates.authority import LONGEST, Authority
from exec_daemon.certificates.naming import client_certificate
from exec_daemon.certificates.requests import new_request, read_request
from exec_daemon.certificates.trust import Keeper, Trust, files_of
from exec_daemon.errors import CertificateUnusable
from exec_daemon.home import Home, prepare
from exec_daemon.tls import ensure_certificates

EVE = Identity(Role.VIEWER, "eve")


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = prepare(tmp_path / "home")
    ensure_certificates(made)
    Authority(made).ensure_crl()
    return made


def request() -> x509.CertificateSigningRequest:
    return read_request(new_request()[1])


def test_a_certificate_names_the_identity_and_nothing_that_the_request_says(home: Home) -> None:
    key = rsa.generate_private_key(65537, 2048)
    boasting = (
        x509.CertificateSigningRequestBuilder()
        .subject_name(x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "operator/local")]))
        .add_extension(
            x509.SubjectAlternativeName([x509.UniformResourceIdentifier("inband:operator/local")]),
            critical=False,
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    made = x509.load_pem_x509_certificate(Authority(home).issue(EVE, boasting).certificate.encode())
    assert client_certificate(made.public_bytes(serialization.Encoding.DER)).identity == EVE
    assert made.extensions.get_extension_for_class(x509.BasicConstraints).value.ca is False
    names = made.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.UniformResourceIdentifier) == ["inband:viewer/eve"]


def test_a_weak_key_gets_none(home: Home) -> None:
    key = rsa.generate_private_key(65537, 1024)
    weak = x509.CertificateSigningRequestBuilder().subject_name(x509.Name([])).sign(key, hashes.SHA256())
    with pytest.raises(ValueError, match="2048"):
        Authority(home).issue(EVE, weak)
    assert Authority(home).issued() == []


def test_a_certificate_ends_with_its_authority_at_the_latest(home: Home) -> None:
    late = Authority(home).certificate.not_valid_after_utc - timedelta(days=1)
    made = Authority(home, late).issue(EVE, request(), LONGEST)
    ends = x509.load_pem_x509_certificate(made.certificate.encode()).not_valid_after_utc
    assert ends == Authority(home).certificate.not_valid_after_utc


def test_what_was_issued_and_revoked_is_known_by_files_alone(home: Home) -> None:
    first, second = (Authority(home).issue(EVE, request()) for _ in range(2))
    (gone,) = Authority(home).revoke({first.serial})
    assert gone.revoked_at
    assert Authority(home).revoke({first.serial}) == [gone]  # twice is once, at the first time
    assert Authority(home).revoke({"0" * 40}) == []
    known = {one.serial: one.revoked_at is None for one in Authority(home).issued()}
    assert known == {first.serial: False, second.serial: True}
    modes = {stat.S_IMODE(file.stat().st_mode) for file in (*home.certificates.iterdir(), home.crl)}
    assert modes == {0o600}


@pytest.mark.parametrize("damage", ["missing", "no list", "of another authority"])
def test_a_lost_list_of_revocations_is_not_made_up(home: Home, tmp_path: Path, damage: str) -> None:
    Authority(home).issue(EVE, request())
    home.crl.unlink()
    if damage == "no list":
        home.crl.write_text("x")
    if damage == "of another authority":
        other = prepare(tmp_path / "other")
        ensure_certificates(other)
        Authority(other).ensure_crl()
        home.crl.write_bytes(other.crl.read_bytes())
    with pytest.raises(CertificateUnusable, match="backup"):
        serve(DaemonSettings(home=home.root, port=0, log_to_stderr=False))


def test_an_authority_that_was_replaced_begins_with_an_empty_list(home: Home) -> None:
    Authority(home).issue(EVE, request())
    home.ca_cert.unlink()
    home.ca_key.unlink()
    ensure_certificates(home)
    Authority(home).ensure_crl()
    assert Authority(home).issued() == []


def test_a_removed_authority_is_out(home: Home, tmp_path: Path) -> None:  # D072
    keeper, told = Keeper(files_of(home)), list[Trust]()
    keeper.on_change = told.append
    der = x509.load_pem_x509_certificate(
        Authority(home).issue(EVE, request()).certificate.encode()
    ).public_bytes(serialization.Encoding.DER)
    shown = client_certificate(der)
    assert keeper.objection(shown) == ""
    for file in (home.ca_cert, home.ca_key, home.server_cert):
        file.unlink()
    ensure_certificates(home)
    Authority(home).ensure_crl()
    before = keeper.context()
    assert keeper.reload()
    assert keeper.context() is not before
    assert "no longer ours" in keeper.objection(shown)
    assert told == [keeper.current]


@pytest.mark.parametrize("damage", ["ca_cert", "crl", "server_cert", "server_key"])
def test_a_reading_that_fails_leaves_the_one_before(home: Home, damage: str) -> None:
    keeper = Keeper(files_of(home))
    before = keeper.current
    getattr(home, damage).write_text("x")
    assert not keeper.reload()
    assert keeper.current is before


def test_an_expired_certificate_counts_no_more(home: Home) -> None:  # D069
    made = Authority(home).issue(EVE, request(), timedelta(hours=1))
    der = x509.load_pem_x509_certificate(made.certificate.encode()).public_bytes(serialization.Encoding.DER)
    trust, now = Keeper(files_of(home)).current, datetime.now(UTC)
    assert trust.objection(client_certificate(der), now) == ""
    assert trust.objection(client_certificate(der), now + timedelta(hours=2)) == "it has expired"
