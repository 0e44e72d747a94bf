"""`/certificates`: client certificates, for operators. Keys are made where they stay and never come here."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, TypeVar

from cryptography import x509
from pydantic import Field
from starlette.responses import Response

from exec_daemon.access.identity import Role, identity
from exec_daemon.api.answers import answer
from exec_daemon.api.body import Body, read_body
from exec_daemon.api.problems import refuse
from exec_daemon.api.route import Ask
from exec_daemon.certificates.authority import LIFE, LONGEST, Authority
from exec_daemon.certificates.naming import serial_text
from exec_daemon.certificates.requests import read_request
from exec_daemon.errors import DaemonError
from exec_daemon.home import Home
from exec_daemon.store import StoreError
from exec_daemon.store.deeds import deed
from messaging import ErrorCode

log = logging.getLogger(__name__)

T = TypeVar("T")


class CertificateBody(Body):
    """`identity` is `<role>/<name>`; `csr` is a request in PEM, whose key gets the certificate."""

    identity: str = Field(max_length=100)
    csr: str = Field(min_length=1, max_length=16_384)
    ttl_s: int | None = Field(default=None, ge=1, le=int(LONGEST.total_seconds()))
    renews: str | None = Field(
        default=None, pattern=r"^[0-9a-f]{40}$", description="serial of the one that it stands in for"
    )


async def _by_authority(ask: Ask, work: Callable[[Authority], T]) -> T:
    """Runs in a thread, for it reads and writes files; an authority that is not there is UNAVAILABLE."""
    home = Home(ask.services.settings.home)
    try:
        return await asyncio.to_thread(lambda: work(Authority(home)))
    except DaemonError as unusable:
        raise refuse(ErrorCode.UNAVAILABLE, str(unusable)) from None


async def every(ask: Ask) -> Response:
    """All that were issued, the oldest first."""
    issued = await _by_authority(ask, Authority.issued)
    return answer({"certificates": [one.to_json() for one in issued]})


async def create(ask: Ask) -> Response:
    """Issues one for the key of the request. It is in the audit before there is one (D108)."""
    body = await read_body(ask.request, CertificateBody, ask.services.settings.limits.max_call_bytes)
    who = identity(body.identity)
    if who is None:
        text = f"identity must be ROLE/NAME, with a role of {', '.join(Role)} and a lower-case name."
        raise refuse(ErrorCode.INVALID_REQUEST, text)
    life = LIFE if body.ttl_s is None else timedelta(seconds=body.ttl_s)
    try:
        request = read_request(body.csr)
    except ValueError as wrong:
        raise refuse(ErrorCode.INVALID_REQUEST, f"csr is no request that is taken: {wrong}.") from None
    serial = x509.random_serial_number()
    what = "certificate.renew" if body.renews else "certificate.issue"
    await _note(ask, what, serial_text(serial), {"identity": str(who), "renews": body.renews})
    made = await _by_authority(ask, lambda authority: authority.issue(who, request, life, serial))
    log.info("%s issued certificate %s to %s", ask.identity, made.serial, who)
    return answer(made.to_json(), 201)


async def _note(ask: Ask, what: str, serial: str, content: Mapping[str, Any]) -> None:
    line = deed(what, serial, by=str(ask.identity), at=ask.services.clock(), content=content)
    await ask.services.store.note(line)


async def revoke(ask: Ask) -> Response:
    """Ends it: new connections are refused, open ones are closed. Revoking twice is revoking once.

    What is taken back is taken back also where the audit cannot be written.
    """
    serial = ask.request.path_params["id"]
    revoked = await _by_authority(ask, lambda authority: authority.revoke({serial}))
    if not revoked:
        raise refuse(ErrorCode.NOT_FOUND, f"There is no certificate {serial[:64]!r}.")
    ask.services.trust.reload()
    log.info("%s revoked certificate %s of %s", ask.identity, serial, revoked[0].identity)
    try:
        await _note(ask, "certificate.revoke", serial, {"identity": revoked[0].identity})
    except StoreError as failed:
        log.error("%s is revoked, and the audit does not say so: %s", serial, failed)  # noqa: TRY400
    return answer(revoked[0].to_json())
