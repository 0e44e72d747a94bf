"""Who signs for `box cert`: the daemon that runs, or the authority of the state directory while none does.

Both are the same authority, and what they write is locked. The daemon is asked first, since it knows at once
and may be on another machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import click

from harvester import DaemonClient
from harvester.errors import Unavailable
from inband.cert_audit import note
from inband.compose import OPERATOR, client_for
from inband.errors import InputError, NotStartedError
from inband.settings import Settings

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Certifying:
    """One authority, wherever it is. `issue` takes identity, request, seconds, and which one it renews."""

    certificates: Callable[[], list[Document]]
    issue: Callable[[str, str, int, str | None], Document]
    revoke: Callable[[str], Document]

    def meant(self, which: str) -> list[str]:
        """Serial numbers: the one that is written, or all that an identity has and that are not revoked."""
        if "/" not in which:
            return [which.lower().removeprefix("0x").zfill(40)]
        found = [
            str(one["serial"])
            for one in self.certificates()
            if one["identity"] == which and not one["revoked_at"]
        ]
        if not found:
            raise InputError(f"{which} has no certificate that could be revoked; box cert list shows all")
        return found


@contextmanager
def certifying(settings: Settings) -> Iterator[Certifying]:
    """The daemon's API, or the files where no daemon listens on this state directory."""
    client = _answering(settings)
    if client is None:
        yield _by_files(settings)
        return
    with client:
        yield _by_daemon(client)


def _answering(settings: Settings) -> DaemonClient | None:
    """A client of the daemon; None where none runs here. One that was named has to answer."""
    try:
        client = client_for(settings, OPERATOR)
        client.ready()
    except (Unavailable, NotStartedError):
        if settings["client.url"]:
            raise
        return None
    return client


def _by_daemon(client: DaemonClient) -> Certifying:
    def issue(identity: str, request: str, ttl_s: int, renews: str | None) -> Document:
        return client.issue_certificate(identity, request, ttl_s, renews=renews)

    return Certifying(client.certificates, issue, client.revoke_certificate)


def _by_files(settings: Settings) -> Certifying:
    from cryptography.x509 import random_serial_number

    from exec_daemon.certificates.authority import Authority
    from exec_daemon.certificates.naming import serial_text
    from exec_daemon.certificates.requests import read_request
    from exec_daemon.home import prepare
    from exec_daemon.tls import ensure_certificates

    home = prepare(settings.home)
    if not home.ca_cert.exists():
        ensure_certificates(home, tuple(settings["daemon.names"]))
    authority = Authority(home)
    authority.ensure_crl()

    def issue(identity: str, request: str, ttl_s: int, renews: str | None) -> Document:
        who = _identity(identity)
        try:
            wanted = read_request(request)
        except ValueError as wrong:
            raise InputError(f"the request is none that is taken: {wrong}") from None
        serial = random_serial_number()
        what = "certificate.renew" if renews else "certificate.issue"
        note(home.database, what, serial_text(serial), {"identity": str(who), "renews": renews})
        return authority.issue(who, wanted, timedelta(seconds=ttl_s), serial).to_json()

    def revoke(serial: str) -> Document:
        gone = authority.revoke({serial})
        if not gone:
            raise InputError(f"there is no certificate {serial}; box cert list shows all")
        try:
            note(home.database, "certificate.revoke", serial, {"identity": gone[0].identity})
        except InputError as fault:  # what is taken back is taken back all the same
            click.echo(f"box: {serial} is revoked; {fault}", err=True)
        return gone[0].to_json()

    return Certifying(lambda: [one.to_json() for one in authority.issued()], issue, revoke)


def _identity(text: str) -> Any:
    from exec_daemon.access.identity import Role, identity

    found = identity(text)
    if found is None:
        raise InputError(f"{text!r} is no identity; write KIND/NAME, with a kind of {', '.join(Role)}")
    return found
