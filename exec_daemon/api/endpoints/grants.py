"""`/grants`: who may do what, for operators. What is set here holds from the next call on."""

from __future__ import annotations

from typing import Any

from pydantic import Field
from starlette.responses import Response

from exec_daemon.access.grant_rules import Wrong, problems, strangers, written
from exec_daemon.access.stack import Place, Placed
from exec_daemon.api.answers import answer
from exec_daemon.api.body import Body, read_body
from exec_daemon.api.problems import Refused, refuse
from exec_daemon.api.route import Ask
from exec_daemon.store import GrantRecord
from messaging import ErrorCode


class GrantBody(Body):
    """`subject` is a role or an identity; `rules` has the keys of a grant in `box.toml`."""

    subject: str = Field(max_length=100, description="a role, or an identity such as agent/heron")
    rules: dict[str, Any]


def _shown(placed: Placed) -> dict[str, Any]:
    return {"subject": placed.subject, "place": str(placed.place), "rules": written(placed.grant)}


def _set(record: GrantRecord) -> dict[str, Any]:
    return {"subject": record.subject, "place": "store", "rules": dict(record.rules)} | {
        "set_by": record.set_by,
        "set_at": record.set_at,
    }


async def every(ask: Ask) -> Response:
    """All grants: the store's, those of `box.toml`, and what is built in."""
    stored = [_set(record) for record in await ask.services.store.grants()]
    others = [
        _shown(placed)
        for placed in ask.services.grants.grants.everything()
        if placed.place is not Place.STORE
    ]
    return answer({"grants": [*stored, *others]})


def _wrong(found: Wrong) -> Refused:
    return refuse(ErrorCode.INVALID_REQUEST, f"The grant of {found}", subject=found.subject, key=found.key)


async def replace(ask: Ask) -> Response:
    """Sets the grant of a subject, in place of what the store had of it."""
    body = await read_body(ask.request, GrantBody, ask.services.settings.limits.max_call_bytes)
    for found in problems(body.subject, body.rules):
        raise _wrong(found)
    for found in strangers(body.subject, body.rules, list(ask.services.registry.grantable)):
        raise _wrong(found)
    return answer(_set(await ask.services.grants.set(body.subject, body.rules, str(ask.identity))))


async def remove(ask: Ask) -> Response:
    """Takes the store's grant of a subject away; those of `box.toml` stay."""
    subject = ask.request.query_params.get("subject", "")
    if not await ask.services.grants.remove(subject, str(ask.identity)):
        text = f"The store has no grant of {subject[:100]!r}. What box.toml grants is changed there."
        raise refuse(ErrorCode.NOT_FOUND, text)
    return answer({"subject": subject, "removed": True})
