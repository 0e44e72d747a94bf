"""TLS towards the daemon: only our own CA is believed, whatever the machine trusts else."""

from __future__ import annotations

import ssl
from dataclasses import dataclass
from pathlib import Path

from harvester.errors import BadCertificate


@dataclass(frozen=True, slots=True)
class ClientCertificate:
    """PEM files that prove who we are. Without `key` it is in the file of the certificate."""

    file: Path
    key: Path | None = None


def context(ca_file: str | Path, url: str, certificate: ClientCertificate | None = None) -> ssl.SSLContext:
    """A client context that verifies chain and host name against `ca_file` alone (TLS 1.2 or newer)."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        made.load_verify_locations(cafile=str(ca_file))
    except FileNotFoundError:
        raise _bad("does not exist; the daemon makes it at its first start: box up", url, ca_file) from None
    except OSError as broken:
        reason = broken.strerror if not isinstance(broken, ssl.SSLError) else "not a certificate in PEM form"
        raise _bad(f"cannot be read ({reason})", url, ca_file) from None
    if certificate is not None:
        _show(certificate, made, url)
    return made


def _show(certificate: ClientCertificate, context: ssl.SSLContext, url: str) -> None:
    try:
        context.load_cert_chain(certificate.file, certificate.key)
    except OSError as broken:
        reason = (
            broken.strerror if not isinstance(broken, ssl.SSLError) else "no PEM, or a key that does not fit"
        )
        text = (
            f"the client certificate {certificate.file} cannot be used ({reason}); make one: box cert issue"
        )
        raise BadCertificate(text, url=url, ca_file=str(certificate.file)) from None


def _bad(problem: str, url: str, ca_file: str | Path) -> BadCertificate:
    return BadCertificate(f"the CA file {ca_file} {problem}", url=url, ca_file=str(ca_file))


def rejected(failure: BaseException) -> ssl.SSLCertVerificationError | None:
    """The verification failure among the causes of `failure`, if that is what it was."""
    cause: BaseException | None = failure
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return cause
        cause = cause.__cause__ or cause.__context__
    return None
