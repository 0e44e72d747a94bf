"""One row of the API: method, path, who may, and the function that answers.

Every row is wrapped the same way: who asks, may they, how often; then the function runs. A path without a
row does not exist, and a row without roles is refused to everybody (default deny).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from exec_daemon.access.identity import Identity, Role
from exec_daemon.access.stack import rates_of
from exec_daemon.access.tokens import Asker, bearer
from exec_daemon.api.problems import EXEC_PATH, Refused, refuse
from exec_daemon.calls.admit import rate_limited, want
from exec_daemon.services import Services
from messaging import ErrorCode

MCP_PATH = "/mcp"
# The session of the web page, and what its script sends beside it (exec_daemon.web.sign_in).
COOKIE = "__Host-inband"
PROOF = "x-inband-proof"
ANYONE = frozenset(Role)


@dataclass(frozen=True, slots=True)
class Ask:
    """One request whose asker is known."""

    request: Request
    services: Services
    asker: Asker

    @property
    def identity(self) -> Identity:
        return self.asker.identity

    async def still_valid(self) -> bool:
        """Asked again during a long answer: a token can be revoked or expire meanwhile."""
        try:
            return (await asker_of(self.request, self.services)).identity == self.identity
        except Refused:
            return False


Answer = Callable[[Ask], Awaitable[Response]]
OpenAnswer = Callable[[Request, Services], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Row:
    """An endpoint for the identities of `roles`."""

    method: str
    path: str
    answer: Answer
    roles: frozenset[Role]


@dataclass(frozen=True, slots=True)
class OpenRow:
    """An endpoint that asks for no identity."""

    method: str
    path: str
    answer: OpenAnswer


def services_of(request: Request) -> Services:
    """What `build` put into the application's state."""
    services = request.app.state.services
    assert isinstance(services, Services)
    return services


def bearer_token(request: Request) -> str | None:
    """RFC 6750 section 2.1; a request with two Authorization fields has none that we trust."""
    fields = request.headers.getlist("authorization")
    scheme, _, token = (fields[0] if len(fields) == 1 else "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" and token.strip() else None


async def asker_of(request: Request, services: Services) -> Asker:
    token = bearer_token(request)
    if token is None and COOKIE in request.cookies:
        return await _signed_in(request, services)
    if token is None:
        raise refuse(ErrorCode.UNAUTHENTICATED, "Send a token: `Authorization: Bearer TOKEN`.")
    asker = await bearer(services.store, token, services.clock())
    if asker is None:
        text = "The token is unknown, expired or revoked. `box token create` makes a new one."
        raise refuse(ErrorCode.UNAUTHENTICATED, text)
    if asker.token_id:
        services.token_uses[asker.token_id] = services.clock()
    return asker


async def _signed_in(request: Request, services: Services) -> Asker:
    """Who signed in at the web page. A browser adds the cookie by itself: a change needs the proof too."""
    secret = request.cookies[COOKIE]
    asker = await services.sessions.asker(secret)
    if asker is None:
        raise refuse(ErrorCode.UNAUTHENTICATED, "The session has ended. Sign in again.")
    if request.method != "GET" and not services.sessions.proven(secret, request.headers.get(PROOF, "")):
        raise refuse(ErrorCode.FORBIDDEN, f"This did not come from our page: {PROOF} is missing or wrong.")
    return asker


def _check_rate(row: Row, identity: Identity, services: Services) -> None:
    """Calls are counted by the executor, for the agent that they are made for."""
    if row.path in (EXEC_PATH, MCP_PATH):
        return
    count_request(identity, services, writes=row.method != "GET")


def count_request(identity: Identity, services: Services, *, writes: bool) -> None:
    """Raises `Refused` with RATE_LIMITED when the identity asks too often."""
    rates = rates_of(services.grants.grants.of(identity))
    wait_s = services.buckets.take([want(identity, rates, writes=writes)])
    if wait_s:
        raise Refused(rate_limited(wait_s, f"Requests of {identity}"))


def _guarded(row: Row) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        services = services_of(request)
        request.scope["inband.row"] = row.path
        asker = await asker_of(request, services)
        request.scope["inband.identity"] = str(asker.identity)
        if asker.identity.role not in row.roles:
            text = (
                f"{asker.identity} may not {row.method} {row.path}; it is for {', '.join(sorted(row.roles))}."
            )
            raise refuse(ErrorCode.FORBIDDEN, text)
        _check_rate(row, asker.identity, services)
        return await row.answer(Ask(request, services, asker))

    return endpoint


def _open(row: OpenRow) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        request.scope["inband.row"] = row.path
        return await row.answer(request, services_of(request))

    return endpoint


def route(row: Row | OpenRow) -> Route:
    """The row as Starlette's route."""
    endpoint = _guarded(row) if isinstance(row, Row) else _open(row)
    made = Route(row.path, endpoint, methods=[row.method])
    if isinstance(row, Row):
        made.methods = {row.method}  # Starlette answers HEAD by GET, and a stream for HEAD never ends
    return made
