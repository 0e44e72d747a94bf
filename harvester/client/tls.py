"""TLS towards the daemon: only our own CA is believed, whatever the machine trusts else."""

from __future__ import annotations

import ssl
from pathlib import Path

from harvester.errors import BadCertificate


def context(ca_file: str | Path, url: str) -> ssl.SSLContext:
    """A client context that verifies chain and host name against `ca_file` alone (TLS 1.2 or newer)."""
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        made.load_verify_locations(cafile=str(ca_file))
    except FileNotFoundError:
        raise _bad("does not exist; the daemon makes it at its first start: box up", url, ca_file) from None
    except OSError as broken:
        reason = broken.strerror if not isinstance(broken, ssl.SSLError) else "not a certificate in PEM form"
        raise _bad(f"cannot be read ({reason})", url, ca_file) from None
    return made


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
