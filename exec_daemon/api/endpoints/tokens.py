"""`/tokens`: bearer tokens, for operators. A token is shown once, when it is made."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Annotated, Any, Final, TypeAlias

from pydantic import Field
from starlette.responses import Response

from exec_daemon.access.identity import Role, identity
from exec_daemon.access.tokens import issue
from exec_daemon.api.answers import answer
from exec_daemon.api.body import Body, read_body
from exec_daemon.api.problems import refuse
from exec_daemon.api.route import Ask
from exec_daemon.store import TokenRecord
from exec_daemon.store.deeds import deed
from messaging import ErrorCode
from messaging.moment import iso

# Ten years: longer is as good as for ever, and dates beyond year 9999 cannot be written.
_MOST_TTL_S = 10 * 366 * 24 * 3600

# As long as in a grant: an op of an MCP server has a long name.
_GLOB: Final = r"^[a-z0-9_.*?-]{1,128}$"
_Scope: TypeAlias = Annotated[str, Field(pattern=_GLOB, description="a glob such as dm.*")]


class TokenBody(Body):
    """`identity` is `<role>/<name>`; `scopes` are globs of ops that the token is limited to, if it is."""

    identity: str = Field(max_length=100)
    ttl_s: int | None = Field(default=None, ge=1, le=_MOST_TTL_S)
    # An empty list would say "no op" and mean "every op".
    scopes: list[_Scope] = Field(default_factory=list, min_length=1, max_length=64)


def _shown(record: TokenRecord) -> dict[str, Any]:
    """Everything but the hash."""
    fields = ("id", "identity", "created_at", "expires_at", "last_used_at", "revoked_at")
    return {field: getattr(record, field) for field in fields} | {"scopes": list(record.scopes)}


def _expiry(now: str, ttl_s: int | None) -> str | None:
    if ttl_s is None:
        return None
    return iso(datetime.fromisoformat(now) + timedelta(seconds=ttl_s))


async def every(ask: Ask) -> Response:
    """All tokens, oldest first."""
    return answer({"tokens": [_shown(record) for record in await ask.services.store.tokens()]})


async def create(ask: Ask) -> Response:
    """Makes a token; the answer is the only place where it can be read."""
    services = ask.services
    body = await read_body(ask.request, TokenBody, services.settings.limits.max_call_bytes)
    who = identity(body.identity)
    if who is None:
        text = f"identity must be ROLE/NAME, with a role of {', '.join(Role)} and a lower-case name."
        raise refuse(ErrorCode.INVALID_REQUEST, text)
    content = {"identity": str(who), "ttl_s": body.ttl_s, "scopes": body.scopes}
    token_id = services.new_id("tok")
    await _note(ask, "token.create", token_id, content)  # what cannot be audited is not done (D108)
    token, record = await issue(
        services.store,
        who,
        clock=services.clock,
        new_id=lambda _: token_id,
        expires_at=_expiry(services.clock(), body.ttl_s),
        scopes=tuple(body.scopes),
    )
    return answer(_shown(record) | {"token": token}, 201)


async def _note(ask: Ask, what: str, token_id: str, content: Mapping[str, Any]) -> None:
    line = deed(what, token_id, by=str(ask.identity), at=ask.services.clock(), content=content)
    await ask.services.store.note(line)


async def revoke(ask: Ask) -> Response:
    """Makes a token worthless. Revoking twice is revoking once."""
    token_id = ask.request.path_params["id"]
    if not await ask.services.store.revoke_token(token_id):
        raise refuse(ErrorCode.NOT_FOUND, f"There is no token {token_id[:128]!r}.")
    await _note(ask, "token.revoke", token_id, {})
    return answer({"id": token_id, "revoked": True})
