"""`/audit`: who did what, for operators: the lines, and whether the chain of them is whole."""

from __future__ import annotations

from typing import Final

from starlette.responses import Response

from exec_daemon.api.answers import answer
from exec_daemon.api.body import query_number
from exec_daemon.api.problems import refuse
from exec_daemon.api.route import Ask
from exec_daemon.store.audit_chain import noted_ends
from messaging import ErrorCode

_MOST: Final = 500


async def every(ask: Ask) -> Response:
    """The newest first; `before` is the number of the line behind the page."""
    before = query_number(ask.request, "before", 2**53, 2**53)
    lines = await ask.services.store.audit(query_number(ask.request, "limit", 100, _MOST), before)
    return answer({"lines": [line.to_json() for line in lines]})


def _noted(ask: Ask) -> dict[int, str]:
    """Ends of the chain that the asker wrote down earlier: `noted=NUMBER:HASH,NUMBER:HASH`."""
    written = ask.request.query_params.get("noted")
    try:
        return noted_ends(written) if written else {}
    except ValueError as wrong:
        raise refuse(ErrorCode.INVALID_REQUEST, f"noted: {wrong}.") from None


async def check(ask: Ask) -> Response:
    """Goes along the whole chain; as long as that takes."""
    return answer((await ask.services.store.check_audit(_noted(ask))).to_json())
