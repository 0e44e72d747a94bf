"""Our own certificate authority and server certificate, made at the first start.

The CA's key never leaves the state directory; clients verify against `ca.pem`. A server certificate that
has expired, will soon, or does not fit the CA is made anew; a damaged CA is refused, since every client
would have to trust a new one.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, TypeAlias

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from exec_daemon.errors import CertificateUnusable
from exec_daemon.home import Home, write_private

Key: TypeAlias = ec.EllipticCurvePrivateKey
PublicKey: TypeAlias = ec.EllipticCurvePublicKey | ed25519.Ed25519PublicKey | rsa.RSAPublicKey

CA_LIFE: Final = timedelta(days=3650)
SERVER_LIFE: Final = timedelta(days=365)
# A daemon that runs for a month after this check still has a valid certificate.
RENEW_BEFORE: Final = timedelta(days=30)
# Clocks of two machines differ.
BACKDATED: Final = timedelta(hours=1)
NAMES: Final = ("localhost",)
ADDRESSES: Final = ("127.0.0.1", "::1")


def common_name(common: str) -> x509.Name:
    """A name for people to read; nobody is known by it."""
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def private_pem(key: Key) -> bytes:
    """The key as PEM, in the clear: the file that it goes into is its owner's alone."""
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def usage(*, signs_certificates: bool) -> x509.KeyUsage:
    """For an authority, or for one end of a connection."""
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def builder(
    subject: x509.Name, issuer: x509.Name, key: PublicKey, now: datetime, serial: int | None = None
) -> x509.CertificateBuilder:
    """What every certificate of ours begins with; `serial` is drawn where none is given."""
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(serial or x509.random_serial_number())
        .not_valid_before(now - BACKDATED)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def make_ca(now: datetime) -> tuple[x509.Certificate, Key]:
    """A new authority that may sign leaf certificates only."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = common_name("inband local CA")
    certificate = (
        builder(name, name, key.public_key(), now)
        .not_valid_after(now + CA_LIFE)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage(signs_certificates=True), critical=True)
        .sign(key, hashes.SHA256())
    )
    return certificate, key


def make_server(
    ca: x509.Certificate, ca_key: Key, now: datetime, names: Sequence[str] = ()
) -> tuple[x509.Certificate, Key]:
    """A server certificate for this machine's local names, and for `names` beside them."""
    key = ec.generate_private_key(ec.SECP256R1())
    certificate = (
        builder(common_name("inband daemon"), ca.subject, key.public_key(), now)
        .not_valid_after(min(now + SERVER_LIFE, ca.not_valid_after_utc))
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
        .add_extension(x509.SubjectAlternativeName(_alternatives(names)), critical=False)
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(ca_key.public_key()), critical=False
        )
        .sign(ca_key, hashes.SHA256())
    )
    return certificate, key


def _alternatives(names: Sequence[str]) -> list[x509.GeneralName]:
    return [_alternative(name) for name in dict.fromkeys((*NAMES, *ADDRESSES, *names))]


def _alternative(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def read_pair(certificate: Path, key: Path) -> tuple[x509.Certificate, Key]:
    """A certificate and its key, which have to fit; raises ValueError or OSError."""
    loaded = serialization.load_pem_private_key(key.read_bytes(), password=None)
    if not isinstance(loaded, ec.EllipticCurvePrivateKey):
        raise ValueError("not an elliptic-curve key")  # noqa: TRY004 - the file's content is wrong, not a type
    found = x509.load_pem_x509_certificate(certificate.read_bytes())
    if found.public_key() != loaded.public_key():
        raise ValueError("the key does not belong to the certificate")
    return found, loaded


def _ca(home: Home, now: datetime) -> tuple[x509.Certificate, Key]:
    if not home.ca_cert.exists() and not home.ca_key.exists():
        certificate, key = make_ca(now)
        write_private(home.ca_key, private_pem(key))
        write_private(home.ca_cert, certificate.public_bytes(serialization.Encoding.PEM))
        return certificate, key
    try:
        return read_pair(home.ca_cert, home.ca_key)
    except (ValueError, OSError) as damaged:
        text = (
            f"the certificate authority {home.ca_cert} cannot be used: {damaged}. Restore ca.pem and ca.key "
            "from a backup, or remove both: a new authority is made and clients have to fetch the new ca.pem."
        )
        raise CertificateUnusable(text, str(home.ca_cert)) from None


def _usable(server: x509.Certificate, ca: x509.Certificate, now: datetime, wanted: Sequence[str]) -> bool:
    """Will clients that trust `ca` accept it for another while?"""
    names = server.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    try:
        server.verify_directly_issued_by(ca)
    except (InvalidSignature, ValueError, TypeError):
        return False
    fits = all(name in list(names) for name in _alternatives(wanted))
    return fits and server.not_valid_before_utc <= now < server.not_valid_after_utc - RENEW_BEFORE


def ensure_certificates(home: Home, names: Sequence[str] = (), now: datetime | None = None) -> None:
    """Makes or renews what is missing or too old; raises `CertificateUnusable`, `HomeUnusable`."""
    now = now or datetime.now(UTC)
    ca, ca_key = _ca(home, now)
    try:
        server, _ = read_pair(home.server_cert, home.server_key)
        if _usable(server, ca, now, names):
            return
    except (ValueError, OSError, x509.ExtensionNotFound):
        pass
    server, key = make_server(ca, ca_key, now, names)
    write_private(home.server_key, private_pem(key))
    write_private(home.server_cert, server.public_bytes(serialization.Encoding.PEM))
