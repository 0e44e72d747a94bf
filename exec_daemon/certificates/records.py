"""What the files of the authority say: which certificates there are, and which of them are revoked."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import serialization

from exec_daemon.certificates.naming import client_certificate, serial_text
from exec_daemon.tls import BACKDATED
from messaging.moment import iso


@dataclass(frozen=True, slots=True)
class Issued:
    """A certificate of ours. Times are texts as everywhere in the API; `revoked_at` None: it is not."""

    serial: str
    identity: str | None
    issued_at: str
    expires_at: str
    revoked_at: str | None

    def to_json(self) -> dict[str, Any]:
        """All fields."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Fresh:
    """A certificate at its making: what is known of it, itself as PEM, and the authority's as PEM."""

    issued: Issued
    certificate: str
    ca: str

    @property
    def serial(self) -> str:
        """As `Issued.serial`."""
        return self.issued.serial

    def to_json(self) -> dict[str, Any]:
        """What is known of it, and both PEM texts."""
        return self.issued.to_json() | {"certificate": self.certificate, "ca": self.ca}


def read_crl(path: Path, ca: x509.Certificate) -> x509.CertificateRevocationList | None:
    """The list of revocations, None where there is none that `ca` has signed."""
    try:
        crl = x509.load_pem_x509_crl(path.read_bytes())
        return crl if crl.is_signature_valid(ca.public_key()) else None  # type: ignore[arg-type]
    except (OSError, ValueError, TypeError):
        return None


def read_certificate(path: Path) -> x509.Certificate | None:
    """None where the file holds none."""
    try:
        return x509.load_pem_x509_certificate(path.read_bytes())
    except (OSError, ValueError):
        return None


def issued_of(one: x509.Certificate, revoked_at: datetime | None) -> Issued:
    """What is known of a certificate of ours."""
    who = client_certificate(one.public_bytes(serialization.Encoding.DER)).identity
    return Issued(
        serial=serial_text(one.serial_number),
        identity=str(who) if who else None,
        issued_at=iso(one.not_valid_before_utc + BACKDATED),
        expires_at=iso(one.not_valid_after_utc),
        revoked_at=iso(revoked_at) if revoked_at else None,
    )
