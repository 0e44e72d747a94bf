"""`/sign-in-links` and `/session`: into the web page from a terminal, and out of it."""

from __future__ import annotations

from starlette.responses import Response

from exec_daemon.api.answers import answer
from exec_daemon.api.asker import COOKIE, ground_of
from exec_daemon.api.body import Body, read_body
from exec_daemon.api.problems import refuse
from exec_daemon.api.route import Ask
from messaging import ErrorCode


class LinkBody(Body):
    """Nothing is asked for yet."""


async def link(ask: Ask) -> Response:
    """A link that signs the asker in at the web page, once, within two minutes."""
    await read_body(ask.request, LinkBody, ask.services.settings.limits.max_call_bytes)
    ground = ground_of(ask.request, ask.services)
    if ground is None:
        text = "A session opens no other. Ask with a token or a certificate, as `box open` does."
        raise refuse(ErrorCode.FORBIDDEN, text)
    code = ask.services.sessions.link(str(ask.identity), ground)
    return answer({"path": f"/sign-in?code={code}", "identity": str(ask.identity)}, 201)


async def leave(ask: Ask) -> Response:
    """Ends the session of the web page."""
    secret = ask.request.cookies.get(COOKIE)
    if secret:
        ask.services.sessions.close(secret)
    gone = answer({"signed_out": secret is not None})
    gone.delete_cookie(COOKIE, path="/", secure=True, httponly=True, samesite="strict")
    return gone
