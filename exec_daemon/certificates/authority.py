"""Our own certificate authority: it issues client certificates, revokes them, and knows both by files.

    certificates/<serial>.pem   each certificate that was issued, without its key
    crl.pem                     which of them are revoked (RFC 5280 5), signed by the authority

There is no other record: what OpenSSL checks in a handshake and what `box cert list` shows are the same.
Writing takes a lock on the folder, so that the daemon and a command do not lose each other's revocations.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization

from exec_daemon.access.identity import Identity
from exec_daemon.certificates.naming import serial_text
from exec_daemon.certificates.records import Fresh, Issued, issued_of, read_certificate, read_crl
from exec_daemon.certificates.signing import sign_client
from exec_daemon.errors import CertificateUnusable
from exec_daemon.home import Home, write_private
from exec_daemon.tls import BACKDATED, read_pair

# Long enough to forget nothing and short enough that a lost key is worthless within a season.
LIFE: Final = timedelta(days=90)
LONGEST: Final = timedelta(days=825)


class Authority:
    """The authority of one state directory. Raises `CertificateUnusable` where its files are not right."""

    def __init__(self, home: Home, now: datetime | None = None) -> None:
        self._home = home
        self._now = now or datetime.now(UTC)
        try:
            self.certificate, self._key = read_pair(home.ca_cert, home.ca_key)
        except (OSError, ValueError) as broken:
            text = f"the authority {home.ca_cert} cannot sign: {broken}. `box doctor` says more."
            raise CertificateUnusable(text, str(home.ca_cert)) from None

    def issue(
        self,
        who: Identity,
        request: x509.CertificateSigningRequest,
        life: timedelta = LIFE,
        serial: int | None = None,
    ) -> Fresh:
        """A certificate for the key of `request`. Nothing that the request says itself is taken.

        Raises ValueError for a request that does not prove that its sender has the key.
        """
        made = sign_client(
            self.certificate,
            self._key,
            who=who,
            request=request,
            now=self._now,
            life=min(life, LONGEST),
            serial=serial,
        )
        pem = made.public_bytes(serialization.Encoding.PEM)
        with self._locked():
            write_private(self._home.certificates / f"{serial_text(made.serial_number)}.pem", pem)
        return Fresh(issued_of(made, None), pem.decode(), self._pem)

    @property
    def _pem(self) -> str:
        return self.certificate.public_bytes(serialization.Encoding.PEM).decode()

    def issued(self) -> list[Issued]:
        """All certificates that this authority has issued, the oldest first."""
        revoked = {entry.serial_number: entry.revocation_date_utc for entry in self._crl() or ()}
        return [issued_of(one, revoked.get(one.serial_number)) for one in self._certificates()]

    def revoke(self, serials: set[str]) -> list[Issued]:
        """Revokes those of them that were issued here; gives what is revoked now. Twice is once."""
        with self._locked():
            crl = self._crl()
            known = {one.serial_number for one in self._certificates()}
            before = {entry.serial_number: entry.revocation_date_utc for entry in crl or ()}
            wanted = {number for number in known if serial_text(number) in serials}
            self._write_crl(dict.fromkeys(wanted, self._now) | before)
        return [one for one in self.issued() if one.serial in serials]

    def take_over(self, revoked: dict[int, datetime]) -> int:
        """Revokes these as well, also such as are not known here; how many of them were not revoked."""
        with self._locked():
            before = {entry.serial_number: entry.revocation_date_utc for entry in self._crl() or ()}
            self._write_crl(revoked | before)
        return len(revoked.keys() - before.keys())

    def ensure_crl(self) -> None:
        """Leaves a list of revocations by this authority. One that is lost is not made up.

        An empty one in its place would let revoked certificates in again.
        """
        self.check_crl()
        if self._crl() is None:
            with self._locked():
                self._write_crl({})

    def check_crl(self) -> None:
        """Raises `CertificateUnusable` where certificates were issued and their revocations are not known."""
        if self._crl() is None and next(self._certificates(), None) is not None:
            path = self._home.crl
            text = (
                f"{path} is missing or not by this authority, and certificates were issued: which of them "
                "are revoked is not known. Restore it from a backup, or remove ca.pem and ca.key: a new "
                "authority is made, and all certificates have to be issued anew."
            )
            raise CertificateUnusable(text, str(path))

    def _certificates(self) -> Iterator[x509.Certificate]:
        found = [read_certificate(path) for path in self._home.certificates.glob("*.pem")]
        ours = [one for one in found if one is not None and one.issuer == self.certificate.subject]
        for one in sorted(ours, key=lambda one: one.not_valid_before_utc):
            if self._signed(one):
                yield one

    def _signed(self, one: x509.Certificate) -> bool:
        try:
            one.verify_directly_issued_by(self.certificate)
        except Exception:  # noqa: BLE001 - InvalidSignature and what a strange key raises mean the same
            return False
        return True

    def _crl(self) -> x509.CertificateRevocationList | None:
        return read_crl(self._home.crl, self.certificate)

    def _write_crl(self, revoked: dict[int, datetime]) -> None:
        builder = (
            x509.CertificateRevocationListBuilder()
            .issuer_name(self.certificate.subject)
            .last_update(self._now - BACKDATED)
            .next_update(self.certificate.not_valid_after_utc)
        )
        for serial, when in sorted(revoked.items()):
            entry = x509.RevokedCertificateBuilder().serial_number(serial).revocation_date(when).build()
            builder = builder.add_revoked_certificate(entry)
        crl = builder.sign(self._key, hashes.SHA256())
        write_private(self._home.crl, crl.public_bytes(serialization.Encoding.PEM))

    @contextmanager
    def _locked(self) -> Iterator[None]:
        folder = os.open(self._home.certificates, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            yield
        finally:
            os.close(folder)
