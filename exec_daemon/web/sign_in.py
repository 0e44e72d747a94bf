"""The way in: a token or a one-time link becomes a cookie, which stands for that token and no more.

The cookie is `__Host-`: this host only, TLS only, no script sees it; `SameSite=Strict`: no other site sends
it. What changes something needs the proof beside it, which stands in our own pages only.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from exec_daemon.api.asker import COOKIE, token_ground
from exec_daemon.api.body import read_content
from exec_daemon.api.route import services_of
from exec_daemon.services import Services
from exec_daemon.web.rendering import HEADERS, page

_MOST_BYTES: Final = 4096
_NOT_VALID: Final = "This token is unknown, expired or revoked."
_WRONG_LINK: Final = "This link was used, or is older than two minutes. `box open` prints a new one."


def proof(request: Request, services: Services) -> str:
    """What our script sends with each change; empty for who came with a token and has no session."""
    secret = request.cookies.get(COOKIE)
    return services.sessions.proof(secret) if secret else ""


def _next(request: Request) -> str:
    """Where to go then: a page of ours, never another site (`//host` is one)."""
    wanted = request.query_params.get("next", "/")
    return wanted if wanted.startswith("/ui/") else "/"


async def ask(request: Request) -> Response:
    """The form. A link of `box open` brings a code; a person presses the button, a prefetch does not."""
    values = {"code": request.query_params.get("code", ""), "next": _next(request), "problem": ""}
    return page("sign_in.html", values)


async def enter(request: Request) -> Response:
    """Opens a session and goes on."""
    services = services_of(request)
    form = parse_qs((await read_content(request, _MOST_BYTES)).decode("utf-8", "replace"))
    token, code = (form.get(name, [""])[0].strip() for name in ("token", "code"))
    secret = services.sessions.follow(code) if code else await _opened(services, token)
    if secret is None:
        problem = _WRONG_LINK if code else _NOT_VALID
        return page("sign_in.html", {"code": "", "next": _next(request), "problem": problem}, 401)
    response = RedirectResponse(_next(request), 303, dict(HEADERS))
    response.set_cookie(COOKIE, secret, secure=True, httponly=True, samesite="strict", path="/")
    return response


async def _opened(services: Services, token: str) -> str | None:
    ground = token_ground(token, services)
    asker = await ground()
    return None if asker is None else services.sessions.open(str(asker.identity), ground)


ROUTES: Final = (
    Route("/sign-in", ask, methods=["GET"]),
    Route("/sign-in", enter, methods=["POST"]),
)
