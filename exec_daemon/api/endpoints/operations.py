"""`/healthz` and `/readyz`: for whoever watches the daemon. They ask for no identity and tell no more."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from exec_daemon.api.answers import answer
from exec_daemon.api.problems import refuse
from exec_daemon.services import Services
from messaging import ErrorCode


async def health(_: Request, __: Services) -> Response:
    """The process answers."""
    return answer({"status": "ok"})


async def ready(_: Request, services: Services) -> Response:
    """Calls can be taken: the store answers and the daemon is not about to stop."""
    if services.stopping.is_set():
        raise refuse(ErrorCode.UNAVAILABLE, "The daemon is stopping.")
    await services.store.last_position()
    return answer({"status": "ready"})
