"""Who asks: what the transport proves, and the bearer token that comes along. What is unclear is refused."""

from __future__ import annotations

from typing import Final

from starlette.requests import Request

from exec_daemon.access.tokens import Asker, bearer, bearer_by_sha256, sha256
from exec_daemon.api.head import Head, head_of
from exec_daemon.api.problems import Refused, refuse
from exec_daemon.certificates.naming import ClientCertificate, serial_text
from exec_daemon.peer import PEER, Peer
from exec_daemon.services import Services
from exec_daemon.web.sessions import Ground
from messaging import ErrorCode

# The session of the web page, and what its script sends beside it (exec_daemon.web.sign_in).
COOKIE: Final = "__Host-inband"
PROOF: Final = "x-inband-proof"
# Under this a head knows the hash of its token.
_HASHED: Final = "sha256 of the bearer"
_SEND_ONE: Final = "Send a token: `Authorization: Bearer TOKEN`, or show a client certificate."


async def asker_of(request: Request, services: Services) -> Asker:
    """Raises `Refused` with UNAUTHENTICATED, or FORBIDDEN where certificate and token name different ones."""
    peer = request.scope.get(PEER)
    if not isinstance(peer, Peer):
        raise refuse(ErrorCode.UNAUTHENTICATED, "The transport does not say who is connected.")
    proved, head = _proved(peer, services), head_of(request.scope)
    if "authorization" in head.fields:
        return await _with_token(head, services, proved)
    if proved is None and COOKIE in request.cookies:
        return await _signed_in(request, services)
    if proved is None:
        raise refuse(ErrorCode.UNAUTHENTICATED, _SEND_ONE)
    return proved


async def _signed_in(request: Request, services: Services) -> Asker:
    """Who signed in at the web page. A browser adds the cookie by itself: a change needs the proof too."""
    secret = request.cookies[COOKIE]
    asker = await services.sessions.asker(secret)
    if asker is None:
        raise refuse(ErrorCode.UNAUTHENTICATED, "The session has ended. Sign in again.")
    if request.method != "GET" and not services.sessions.proven(secret, request.headers.get(PROOF, "")):
        raise refuse(ErrorCode.FORBIDDEN, f"This did not come from our page: {PROOF} is missing or wrong.")
    return asker


def token_ground(token: str, services: Services) -> Ground:
    """Asks again who bears this token."""
    return lambda: bearer(services.store, token, services.clock())


def ground_of(request: Request, services: Services) -> Ground | None:
    """What the identity of this request stands on, to be asked again later; None for a page's session."""
    token = bearer_token(request)
    if token is not None:
        return token_ground(token, services)
    peer = request.scope[PEER]

    async def again() -> Asker | None:
        try:
            return _proved(peer, services)
        except Refused:
            return None

    return None if COOKIE in request.cookies and peer.certificate is None and peer.uid is None else again


def _proved(peer: Peer, services: Services) -> Asker | None:
    """The identity of a client certificate or a uid; None over TLS without a certificate."""
    if peer.certificate is not None:
        return _certified(peer.certificate, services)
    return None if peer.uid is None else _local(peer.uid, services)


def _certified(shown: ClientCertificate, services: Services) -> Asker:
    objection = shown.problem or services.trust.objection(shown)
    if shown.identity is None or objection:
        serial = serial_text(shown.serial)
        text = f"The client certificate {serial} counts for nobody: {objection}. `box cert list` shows all."
        raise refuse(ErrorCode.UNAUTHENTICATED, text)
    return Asker(shown.identity, serial=serial_text(shown.serial))


def _local(uid: int, services: Services) -> Asker:
    who = services.settings.unix.users.get(uid)
    if who is None:
        text = f"The user with uid {uid} has no identity here; [unix.users] in box.toml gives one."
        raise refuse(ErrorCode.UNAUTHENTICATED, text)
    return Asker(who, uid=uid)


async def _with_token(head: Head, services: Services, proved: Asker | None) -> Asker:
    """Beside a certificate it has to be of the same identity; on the unix socket it says who is meant."""
    hashed, now = _hashed(head), services.clock()
    if hashed is None:
        raise refuse(ErrorCode.UNAUTHENTICATED, _SEND_ONE)
    asker = await bearer_by_sha256(services.store, hashed, now)
    if asker is None:
        text = "The token is unknown, expired or revoked. `box token create` makes a new one."
        raise refuse(ErrorCode.UNAUTHENTICATED, text)
    if proved is not None and proved.serial is not None and proved.identity != asker.identity:
        text = f"The certificate is of {proved.identity}, the token of another; send one of them."
        raise refuse(ErrorCode.FORBIDDEN, text)
    if asker.token_id:
        services.token_uses[asker.token_id] = now
    return asker


def bearer_token(request: Request) -> str | None:
    """RFC 6750 section 2.1; a request with two Authorization fields has none that we trust."""
    return _token(head_of(request.scope))


def _hashed(head: Head) -> str | None:
    """The hash of the token, worked out once for a connection that sends the same one again."""
    if _HASHED not in head.known:
        token = _token(head)
        head.known[_HASHED] = token and sha256(token)
    found = head.known[_HASHED]
    return found if isinstance(found, str) else None


def _token(head: Head) -> str | None:
    scheme, _, token = ("" if head.repeated else head.fields.get("authorization", "")).partition(" ")
    return token.strip() if scheme.lower() == "bearer" and token.strip() else None
