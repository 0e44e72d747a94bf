"""Certificates for tests: made by an authority that is given, in each way that is right or wrong."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from exec_daemon.access.identity import identity
from exec_daemon.certificates.authority import Authority
from exec_daemon.certificates.requests import new_request, read_request
from exec_daemon.home import Home
from exec_daemon.tls import make_ca, read_pair
from tests.patience import PATIENCE_S

CLIENT, SERVER = ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH


def issued(home: Path, who: str, **more: Any) -> tuple[bytes, str]:
    """Key and certificate of an identity, as `box cert issue` makes them."""
    key, request = new_request()
    named = identity(who)
    assert named
    return key, Authority(Home(home)).issue(named, read_request(request), **more).certificate


def forged(
    home: Path | None,
    *,
    uris: tuple[str, ...] = (),
    dns: tuple[str, ...] = (),
    common: str = "operator/local",
    usages: tuple[x509.ObjectIdentifier, ...] | None = (CLIENT,),
    life: timedelta = timedelta(hours=1),
    names_signer: bool = True,
) -> tuple[bytes, str]:
    """A certificate that our authority would never make but has signed; without `home` by another one."""
    ca, ca_key = read_pair(home / "ca.pem", home / "ca.key") if home else make_ca(datetime.now(UTC))
    key = ec.generate_private_key(ec.SECP256R1())
    alternatives = [*map(x509.UniformResourceIdentifier, uris), *map(x509.DNSName, dns)]
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)]))
        .issuer_name(ca.subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(min(now, now + life) - timedelta(hours=1))
        .not_valid_after(now + life)
    )
    if usages is not None:
        builder = builder.add_extension(x509.ExtendedKeyUsage(usages), critical=False)
    if alternatives:
        builder = builder.add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
    if names_signer:
        signer = x509.AuthorityKeyIdentifier.from_issuer_public_key(ca_key.public_key())
        builder = builder.add_extension(signer, critical=False)
    made = builder.sign(ca_key, hashes.SHA256())
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return pem, made.public_bytes(serialization.Encoding.PEM).decode()


def serial_of(certificate: str) -> str:
    return f"{x509.load_pem_x509_certificate(certificate.encode()).serial_number:040x}"


def context_with(running: Any, pair: tuple[bytes, str] | None, folder: Path) -> ssl.SSLContext:
    """A TLS context that trusts the daemon and shows the certificate."""
    context = ssl.create_default_context(cafile=running.home / "ca.pem")
    if pair is not None:
        file = folder / f"client-{serial_of(pair[1])}.pem"
        file.write_bytes(pair[0] + pair[1].encode())
        context.load_cert_chain(file)
    return context


def client_with(running: Any, pair: tuple[bytes, str], folder: Path, token: str = "") -> httpx2.Client:
    """A client that shows the certificate, and the token if there is one."""
    headers = {"authorization": f"Bearer {token}"} if token else {}
    context = context_with(running, pair, folder)
    return httpx2.Client(base_url=running.url, verify=context, headers=headers, timeout=PATIENCE_S)
