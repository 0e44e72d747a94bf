"""Whom the TLS side believes right now, and the keeper that reads it again when its files change.

A revocation counts three times: OpenSSL refuses the handshake by the list of revocations, each request of a
connection that stands asks `Trust.objection`, and the keeper tells when to close what is open.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from cryptography import x509

from exec_daemon.certificates.naming import ClientCertificate
from exec_daemon.certificates.records import read_crl
from exec_daemon.errors import CertificateUnusable, DaemonError
from exec_daemon.home import Home

log = logging.getLogger(__name__)

# What a person who has revoked a certificate waits without noticing; four looks at files cost microseconds.
_LOOK_EVERY_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class Files:
    """What TLS is made of. `certificate` and `key` are the server's: ours, or those of the operator."""

    ca: Path
    crl: Path
    certificate: Path
    key: Path

    def state(self) -> tuple[tuple[int, int, int] | None, ...]:
        """Changes whenever one of the files does."""
        return tuple(map(_state, (self.ca, self.crl, self.certificate, self.key)))


@dataclass(frozen=True, slots=True)
class Trust:
    """One reading of the files. `authorities` are the ids of keys that may sign client certificates."""

    context: ssl.SSLContext
    authorities: frozenset[bytes]
    revoked: frozenset[int]

    def objection(self, shown: ClientCertificate, now: datetime) -> str:
        """Why a certificate that passed its handshake counts no more; empty when it counts."""
        if shown.serial in self.revoked:
            return "it is revoked"
        if shown.authority not in self.authorities:
            return "its authority is no longer ours"
        return "it has expired" if now >= shown.expires_at else ""


def files_of(home: Home, certificate: Path | None = None, key: Path | None = None) -> Files:
    """Those of the state directory, with the operator's own server certificate where there is one."""
    return Files(home.ca_cert, home.crl, certificate or home.server_cert, key or home.server_key)


def read_trust(files: Files) -> Trust:
    """Raises `CertificateUnusable`."""
    try:
        ca = x509.load_pem_x509_certificate(files.ca.read_bytes())
        crl = _revocations(files, ca)
        context = _context(files)
    except (OSError, ValueError) as broken:
        reason = getattr(broken, "strerror", None) or broken
        text = f"TLS cannot be set up from {files.certificate}, {files.ca} and {files.crl}: {reason}."
        raise CertificateUnusable(text, str(files.certificate)) from None
    return Trust(context, frozenset({_key_id(ca)}), frozenset(entry.serial_number for entry in crl))


def _revocations(files: Files, ca: x509.Certificate) -> x509.CertificateRevocationList:
    crl = read_crl(files.crl, ca)
    if crl is None:
        raise ValueError(f"{files.crl} is no list of revocations by {files.ca}")
    return crl


def _context(files: Files) -> ssl.SSLContext:
    """TLS 1.2 and newer, HTTP/1.1 only. No session tickets: a client proves itself with each connection."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.num_tickets = 0
    context.options |= ssl.OP_NO_TICKET | ssl.OP_NO_RENEGOTIATION | ssl.OP_CIPHER_SERVER_PREFERENCE
    context.set_alpn_protocols(["http/1.1"])
    context.load_cert_chain(files.certificate, files.key)
    context.verify_mode = ssl.CERT_OPTIONAL
    context.load_verify_locations(cafile=files.ca)
    context.load_verify_locations(cafile=files.crl)
    context.verify_flags |= ssl.VERIFY_CRL_CHECK_LEAF
    return context


def _key_id(ca: x509.Certificate) -> bytes:
    return x509.SubjectKeyIdentifier.from_public_key(ca.public_key()).digest


def _state(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


class Keeper:
    """Holds the current `Trust`. What cannot be read changes nothing: the reading before stays in force."""

    def __init__(self, files: Files, on_change: Callable[[Trust], None] = lambda _: None) -> None:
        self._files = files
        self._state = files.state()
        self.current = read_trust(files)
        self.on_change = on_change

    def reload(self) -> bool:
        """Reads everything again and tells `on_change`; False where it cannot be used."""
        self._state = self._files.state()
        try:
            self.current = read_trust(self._files)
        except DaemonError as broken:
            log.warning("certificates are not read again, the ones before stay: %s", broken)
            return False
        log.info("certificates read again; %d are revoked", len(self.current.revoked))
        self.on_change(self.current)
        return True

    def context(self) -> ssl.SSLContext:
        """For the next connection."""
        return self.current.context

    def objection(self, shown: ClientCertificate) -> str:
        """As `Trust.objection`, now."""
        return self.current.objection(shown, datetime.now(UTC))

    async def watch(self) -> None:
        """Reads again whenever a file has changed, until it is cancelled."""
        while True:
            await asyncio.sleep(_LOOK_EVERY_S)
            with contextlib.suppress(OSError):
                if self._files.state() != self._state:
                    self.reload()
