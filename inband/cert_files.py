"""The files of a client certificate: PEM, the key readable by its owner alone from its first byte on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from inband.errors import InputError


@dataclass(frozen=True, slots=True)
class FreshPair:
    """A private key and the request for its certificate, both PEM; no key where it is kept elsewhere."""

    key: bytes
    request: str


def new_pair() -> FreshPair:
    """A key of our own making."""
    from exec_daemon.certificates.requests import new_request

    return FreshPair(*new_request())


def request_of(file: Path) -> str:
    """The request in the file; the authority checks it."""
    try:
        return file.read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError) as broken:
        reason = broken.strerror if isinstance(broken, OSError) else "not PEM"
        raise InputError(f"{file}: cannot be read as a request: {reason}") from None


def renewed(file: Path) -> tuple[str, str]:
    """The identity that the certificate in the file names, and its serial number."""
    from cryptography import x509
    from cryptography.hazmat.primitives import serialization

    from exec_daemon.certificates.naming import client_certificate, serial_text

    try:
        found = x509.load_pem_x509_certificate(file.read_bytes())
    except OSError as missing:
        raise InputError(f"{file}: cannot be read: {missing.strerror}") from None
    except ValueError:
        raise InputError(f"{file}: no certificate in PEM form") from None
    shown = client_certificate(found.public_bytes(serialization.Encoding.DER))
    if shown.identity is None:
        raise InputError(f"{file}: no certificate of a client of ours: {shown.problem}")
    return str(shown.identity), serial_text(shown.serial)


def write_pair(
    folder: Path, name: str, key: bytes, certificate: str, *, replace: bool = False
) -> tuple[Path, ...]:
    """The files that were written, the certificate first. A key that is there is kept unless `replace`."""
    from exec_daemon.errors import HomeUnusable
    from exec_daemon.home import write_private

    target, key_file = folder / f"{name}.pem", folder / f"{name}.key"
    if not replace and (target.exists() or (key and key_file.exists())):
        raise InputError(f"{target} or its key is there already; box cert renew replaces them")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if key:
            write_private(key_file, key)
        write_private(target, certificate.encode())
    except (OSError, HomeUnusable) as failed:
        raise InputError(f"{folder}: cannot be written: {failed}") from None
    return (target, key_file) if key else (target,)
