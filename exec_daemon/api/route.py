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
from exec_daemon.access.tokens import Asker
from exec_daemon.api.asker import asker_of
from exec_daemon.api.front import FREE
from exec_daemon.api.left import unless_left
from exec_daemon.api.problems import EXEC_PATH, Refused, refuse
from exec_daemon.api.scoped import closed
from exec_daemon.calls.admit import rate_limited, want
from exec_daemon.services import Services
from messaging import CallError, ErrorCode
from messaging.quick import quickly_made

MCP_PATH = "/mcp"
ANYONE = frozenset(Role)


@quickly_made
@dataclass(frozen=True, slots=True)
class Ask:
    """One request whose asker is known."""

    request: Request
    services: Services
    asker: Asker

    @property
    def identity(self) -> Identity:
        return self.asker.identity

    async def check_again(self) -> None:
        """After a wait, before anything is told: raises `Refused` for an asker that counts no more."""
        await asker_of(self.request, self.services)

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
    """An endpoint for the identities of `roles`. What `stays` may be open for as long as its client likes.

    `shows`: it shows what calls gave or what others wrote, which counts as reading (docs/grants.md).
    """

    method: str
    path: str
    answer: Answer
    roles: frozenset[Role]
    stays: bool = False
    shows: bool = False


@dataclass(frozen=True, slots=True)
class OpenRow:
    """An endpoint that asks for no identity."""

    method: str
    path: str
    answer: OpenAnswer


def services_of(request: Request) -> Services:
    """What the application was built around."""
    services = request.app.services
    assert isinstance(services, Services)
    return services


def _check_rate(row: Row, identity: Identity, services: Services) -> None:
    """Calls are counted by the executor, for the agent that they are made for."""
    if row.path in (EXEC_PATH, MCP_PATH):
        return
    count_request(identity, services, writes=row.method != "GET")


def count_request(identity: Identity, services: Services, *, writes: bool) -> None:
    """Raises `Refused` with RATE_LIMITED when the identity asks too often."""
    rates = services.grants.grants.of(identity).rates
    wait_s = services.buckets.take([want(identity, rates, writes=writes)])
    if wait_s:
        raise Refused(rate_limited(wait_s, f"Requests of {identity}"))


def check_may(row: Row, asker: Asker) -> None:
    """Raises `Refused` with FORBIDDEN for a role that the row is not for, or a token that is closed to it."""
    if asker.identity.role not in row.roles:
        text = f"{asker.identity} may not {row.method} {row.path}; it is for {', '.join(sorted(row.roles))}."
        raise refuse(ErrorCode.FORBIDDEN, text)
    if (why := closed(asker, row.method, row.path)) is not None:
        raise refuse(ErrorCode.FORBIDDEN, why)


def _guarded(row: Row) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        services = services_of(request)
        request.scope["inband.row"] = row.path
        asker = await asker_of(request, services)
        request.scope["inband.identity"] = str(asker.identity)
        check_may(row, asker)
        _check_rate(row, asker.identity, services)
        free = services.places.take(asker.identity, stays=row.stays)
        if isinstance(free, CallError):
            raise Refused(free)
        request.scope[FREE] = free
        if row.shows:
            await services.executor.has_looked(asker.identity)
        answering = row.answer(Ask(request, services, asker))
        waits = row.stays and row.method == "GET"  # a body would be read by the endpoint itself
        return await (unless_left(request, answering) if waits else answering)

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
