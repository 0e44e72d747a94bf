"""The API as two literals: the endpoints, each with who may use it, and the ones open to anybody."""

from __future__ import annotations

from exec_daemon.access.identity import Role
from exec_daemon.api.endpoints import (
    agents,
    approvals,
    artifacts,
    audit,
    callback,
    certificates,
    grants,
    jobs,
    mcp,
    messages,
    metrics,
    openapi,
    operations,
    ops,
    orders,
    replies,
    rpc,
    runs,
    session,
    threads,
    timers,
    tokens,
    workers,
)
from exec_daemon.api.endpoints.exec import call
from exec_daemon.api.endpoints.why import why
from exec_daemon.api.front import Front
from exec_daemon.api.gate import allowed
from exec_daemon.api.route import ANYONE, OpenRow, Row, route
from exec_daemon.services import Services
from exec_daemon.web import pages

OPERATOR = frozenset({Role.OPERATOR})
HARVESTER = frozenset({Role.HARVESTER})
AUTHORS = OPERATOR | HARVESTER | {Role.AGENT}

OPEN_ROWS: tuple[OpenRow, ...] = (
    OpenRow("GET", "/healthz", operations.health),
    OpenRow("GET", "/readyz", operations.ready),
    OpenRow("GET", "/openapi.json", openapi.describe),
    OpenRow("POST", "/callback/{job_id}", callback.receive),
)

ROWS: tuple[Row, ...] = (
    Row("POST", "/exec", call, ANYONE),
    Row("GET", "/ops", ops.every, ANYONE),
    Row("GET", "/ops/{op}", ops.one, ANYONE),
    Row("POST", "/why", why, ANYONE),
    Row("GET", "/grants", grants.every, OPERATOR),
    Row("PUT", "/grants", grants.replace, OPERATOR),
    Row("DELETE", "/grants", grants.remove, OPERATOR),
    Row("GET", "/approvals", approvals.every, OPERATOR | {Role.VIEWER}),
    Row("GET", "/approvals/{id}", approvals.one, OPERATOR | {Role.VIEWER}),
    Row("POST", "/approvals/{id}/approve", approvals.approve, OPERATOR),
    Row("POST", "/approvals/{id}/deny", approvals.deny, OPERATOR),
    Row("GET", "/jobs", jobs.every, ANYONE, shows=True),
    Row("GET", "/jobs/{id}", jobs.one, ANYONE, shows=True),
    Row("GET", "/jobs/{id}/events", jobs.events, ANYONE, stays=True, shows=True),
    Row("POST", "/jobs/{id}/cancel", jobs.cancel, OPERATOR | {Role.AGENT, Role.WORKER}),
    Row("POST", "/callback", callback.expect, OPERATOR),
    Row("GET", "/artifacts/{sha256}", artifacts.one, ANYONE, shows=True),
    Row("GET", "/threads", threads.every, ANYONE),
    Row("POST", "/threads", threads.create, OPERATOR),
    Row("GET", "/threads/{id}", threads.one, ANYONE),
    Row("GET", "/threads/{id}/messages", threads.messages, ANYONE, shows=True),
    Row("POST", "/threads/{id}/messages", threads.post, AUTHORS),
    Row("GET", "/threads/{id}/read", messages.reading, ANYONE),
    Row("PUT", "/threads/{id}/read", messages.read, ANYONE),
    Row("GET", "/messages/{id}", messages.one, ANYONE, shows=True),
    Row("GET", "/threads/{id}/stream", threads.follow, ANYONE, stays=True, shows=True),
    Row("POST", "/timers/preview", timers.preview, ANYONE),
    Row("GET", "/timers/{id}", timers.one, ANYONE),
    Row("GET", "/timers/{id}/runs", timers.runs, ANYONE),
    Row("POST", "/timers/{id}/run", timers.run, OPERATOR | {Role.AGENT}),
    Row("POST", "/orders", orders.create, OPERATOR),
    Row("GET", "/workers", workers.every, ANYONE, stays=True),
    Row("GET", "/workers/{id}", workers.one, ANYONE),
    Row("POST", "/workers/{id}/state", workers.state, HARVESTER),
    Row("POST", "/verdicts", timers.verdict, HARVESTER),
    Row("GET", "/health", operations.condition, OPERATOR | {Role.VIEWER}),
    Row("GET", "/metrics", metrics.scrape, OPERATOR | {Role.VIEWER}),
    Row("POST", "/harvests", metrics.harvested, HARVESTER),
    Row("GET", "/replies", replies.every, HARVESTER, stays=True),
    Row("GET", "/cursors/{name}", replies.cursor, HARVESTER),
    Row("PUT", "/cursors/{name}", replies.set_cursor, HARVESTER),
    Row("GET", "/agents", agents.every, ANYONE),
    Row("POST", "/agents", agents.create, OPERATOR),
    Row("POST", "/agents/{name}/runs", runs.create, OPERATOR | HARVESTER),
    Row("POST", "/sign-in-links", session.link, ANYONE),
    Row("DELETE", "/session", session.leave, ANYONE),
    Row("POST", "/rpc", rpc.talk, ANYONE, stays=True),
    Row("POST", "/mcp", mcp.talk, ANYONE),
    Row("DELETE", "/mcp", mcp.leave, ANYONE),
    Row("GET", "/audit", audit.every, OPERATOR),
    Row("GET", "/audit/check", audit.check, OPERATOR),
    Row("GET", "/certificates", certificates.every, OPERATOR),
    Row("POST", "/certificates", certificates.create, OPERATOR),
    Row("DELETE", "/certificates/{id}", certificates.revoke, OPERATOR),
    Row("GET", "/tokens", tokens.every, OPERATOR),
    Row("POST", "/tokens", tokens.create, OPERATOR),
    Row("DELETE", "/tokens/{id}", tokens.revoke, OPERATOR),
)

EVERY_ROW: tuple[Row | OpenRow, ...] = (*OPEN_ROWS, *ROWS)


class App(Front):
    """The application around `services`."""

    rows = EVERY_ROW

    def __init__(self, services: Services) -> None:
        routes = [*map(route, ROWS), *map(route, OPEN_ROWS), *pages.routes()]
        super().__init__(routes, allowed(services.settings), services.metrics.requested)
        self.services = services
