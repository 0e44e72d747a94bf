"""What our authority writes into a client certificate."""

from __future__ import annotations

from datetime import datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID

from exec_daemon.access.identity import Identity
from exec_daemon.certificates.naming import uri
from exec_daemon.tls import Key, PublicKey, builder, common_name, usage

_LEAST_RSA_BITS = 2048


def sign_client(
    ca: x509.Certificate,
    ca_key: Key,
    *,
    who: Identity,
    request: x509.CertificateSigningRequest,
    now: datetime,
    life: timedelta,
    serial: int | None = None,
) -> x509.Certificate:
    """A certificate for clients, with the name of `who` and the key of `request`. Raises ValueError."""
    key = key_of(request)
    return (
        builder(common_name(str(who)), ca.subject, key, now, serial)
        .not_valid_after(min(now + life, ca.not_valid_after_utc))
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(usage(signs_certificates=False), critical=True)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH]), critical=False)
        .add_extension(
            x509.SubjectAlternativeName([x509.UniformResourceIdentifier(uri(who))]), critical=False
        )
        .add_extension(
            x509.AuthorityKeyIdentifier.from_issuer_public_key(ca_key.public_key()), critical=False
        )
        .sign(ca_key, hashes.SHA256())
    )


def key_of(request: x509.CertificateSigningRequest) -> PublicKey:
    """The key of the request, where its sender has proved to have it and it is none of the weak kinds.

    Raises ValueError.
    """
    if not request.is_signature_valid:
        raise ValueError("the request is not signed by its own key")
    key = request.public_key()
    if isinstance(key, rsa.RSAPublicKey) and key.key_size >= _LEAST_RSA_BITS:
        return key
    if isinstance(key, ec.EllipticCurvePublicKey | ed25519.Ed25519PublicKey):
        return key
    raise ValueError(f"its key is of no kind that is taken: EC, Ed25519, or RSA from {_LEAST_RSA_BITS} bits")
