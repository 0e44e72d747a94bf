"""Which identity a certificate names: exactly one URI `inband:<role>/<name>` among its alternative names.

The common name is never looked at: it is free text, and RFC 9525 2 took its last use away.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID

from exec_daemon.access.identity import Identity, identity

SCHEME: Final = "inband:"


@dataclass(frozen=True, slots=True)
class ClientCertificate:
    """What counts of a certificate that a client showed. `authority` is the id of the key that signed it.

    `identity` is None where it names none, or more than one; `problem` says which, for the asker.
    """

    serial: int
    authority: bytes
    expires_at: datetime
    identity: Identity | None
    problem: str = ""


def uri(who: Identity) -> str:
    """The alternative name of an identity."""
    return f"{SCHEME}{who}"


def serial_text(serial: int) -> str:
    """A serial number as we show and take it: lower-case hexadecimal."""
    return f"{serial:040x}"


def client_certificate(der: bytes) -> ClientCertificate:
    """Reads what a TLS handshake has verified already; what cannot be read names nobody."""
    found = x509.load_der_x509_certificate(der)
    try:
        who, problem = _named(found)
        signed_by = found.extensions.get_extension_for_class(x509.AuthorityKeyIdentifier).value
        authority = signed_by.key_identifier or b""
    except (ValueError, x509.ExtensionNotFound, x509.DuplicateExtension):
        who, problem, authority = None, "its extensions cannot be read", b""
    return ClientCertificate(found.serial_number, authority, found.not_valid_after_utc, who, problem)


def _named(certificate: x509.Certificate) -> tuple[Identity | None, str]:
    """The identity, or why there is none. OpenSSL takes a certificate without a stated usage for any."""
    usage = certificate.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    if ExtendedKeyUsageOID.CLIENT_AUTH not in usage:
        return None, "it is not for clients"
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    ours = [name for name in names.get_values_for_type(x509.UniformResourceIdentifier) if _is_ours(name)]
    if len(ours) != 1:
        return None, f"it has {len(ours)} names {SCHEME}ROLE/NAME, and not one"
    who = identity(ours[0].removeprefix(SCHEME))
    return (who, "") if who else (None, f"{ours[0][:100]!r} is no identity")


def _is_ours(name: str) -> bool:
    return name.lower().startswith(SCHEME)
