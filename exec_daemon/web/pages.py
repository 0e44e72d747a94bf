"""The table of pages, and how each is answered: signed in, filled in, or a page that says why not."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from exec_daemon.api.asker import asker_of
from exec_daemon.api.problems import Refused
from exec_daemon.api.route import Ask, count_request, services_of
from exec_daemon.web import sign_in
from exec_daemon.web.rendering import HEADERS, page, static
from exec_daemon.web.views import approvals, jobs, machine, ops, threads, usage
from messaging import ERRORS, ErrorCode

View = Callable[[Ask], Awaitable[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class Page:
    """A page at `path`. `name` stands in the navigation; one without is found by a link of another."""

    path: str
    template: str
    view: View
    name: str = ""


PAGES: Final = (
    Page("/", "overview.html", machine.overview, "Overview"),
    Page("/ui/threads", "threads.html", threads.every, "Threads"),
    Page("/ui/threads/{id}", "thread.html", threads.one),
    Page("/ui/threads/{id}/messages/{seq}", "message.html", threads.message),
    Page("/ui/jobs", "jobs.html", jobs.every, "Jobs"),
    Page("/ui/jobs/{id}", "job.html", jobs.one),
    Page("/ui/approvals", "approvals.html", approvals.every, "Approvals"),
    Page("/ui/timers", "timers.html", machine.timers, "Timers"),
    Page("/ui/workers", "workers.html", machine.workers, "Workers"),
    Page("/ui/ops", "ops.html", ops.every, "Ops"),
    Page("/ui/ops/{op}", "op.html", ops.one),
    Page("/ui/usage", "usage.html", usage.show, "Usage"),
    Page("/ui/health", "health.html", machine.health, "Health"),
)

_NAVIGATION: Final = [(one.path, one.name) for one in PAGES if one.name]


def _common(ask: Ask, at: str) -> dict[str, Any]:
    return {
        "identity": str(ask.identity),
        "proof": sign_in.proof(ask.request, ask.services),
        "navigation": _NAVIGATION,
        "at": at,
        "now": ask.services.clock(),
    }


def _endpoint(one: Page) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        services = services_of(request)
        request.scope["inband.row"] = one.path
        try:
            ask = Ask(request, services, await asker_of(request, services))
            request.scope["inband.identity"] = str(ask.identity)
            count_request(ask.identity, services, writes=False)
            await services.executor.has_looked(ask.identity)
            return page(one.template, {**_common(ask, one.path), **await one.view(ask)})
        except Refused as refused:
            return _turned_away(request, refused)

    return endpoint


def _turned_away(request: Request, refused: Refused) -> Response:
    failed = refused.error
    if failed.code is ErrorCode.UNAUTHENTICATED:
        return RedirectResponse(f"/sign-in?next={quote(request.url.path)}", 303, dict(HEADERS))
    status = ERRORS[failed.code].http_status
    return page("refused.html", {"error": failed, "status": status}, status)


async def _static(request: Request) -> Response:
    found = static(request.path_params["name"])
    if found is None:
        return page("refused.html", {"error": None, "status": 404}, 404)
    content, media = found
    return Response(content, 200, {**HEADERS, "cache-control": "no-cache"}, media)


def routes() -> list[Route]:
    """The pages, their files, and the way in."""
    made = [Route(one.path, _endpoint(one), methods=["GET"]) for one in PAGES]
    return [*made, Route("/ui/static/{name}", _static, methods=["GET"]), *sign_in.ROUTES]
