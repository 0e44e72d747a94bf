"""`/openapi.json`: the API described for programs. Nothing of this machine is in it: anybody may read it."""

from __future__ import annotations

from functools import cache
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from exec_daemon.api.answers import answer
from exec_daemon.api.route import OpenRow, Row
from exec_daemon.services import Services


@cache
def _document(rows: tuple[Row | OpenRow, ...]) -> dict[str, Any]:
    from exec_daemon.api.openapi.document import document  # made when first asked for, not at each start

    return document(rows)


async def describe(request: Request, _: Services) -> Response:
    """This document."""
    return answer(_document(request.app.rows))
