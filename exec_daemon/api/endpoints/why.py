"""`POST /why`: may this identity call this op, which rule says so, and where does that rule stand?"""

from __future__ import annotations

from typing import Any

from pydantic import Field
from starlette.responses import Response

from exec_daemon.access.explain import explained
from exec_daemon.access.identity import Identity, Role, identity
from exec_daemon.api.answers import answer
from exec_daemon.api.body import Body, read_body
from exec_daemon.api.problems import Refused, refuse
from exec_daemon.api.route import Ask
from exec_daemon.calls.op import Op
from exec_daemon.calls.registry import validate
from messaging import CallError, ErrorCode


class WhyBody(Body):
    """`args` may be left out: then only the op is asked about. `thread` is where it would be called."""

    identity: str = Field(max_length=100)
    op: str = Field(min_length=1, max_length=200)
    args: dict[str, Any] | None = None
    thread: str | None = Field(default=None, max_length=200)


def _asked_about(ask: Ask, written: str) -> Identity:
    """Operators ask about anybody, everybody else about itself."""
    who = identity(written)
    if who is None:
        raise refuse(
            ErrorCode.INVALID_REQUEST, f"identity must be ROLE/NAME, with a role of {', '.join(Role)}."
        )
    if who != ask.identity and ask.identity.role is not Role.OPERATOR:
        raise refuse(ErrorCode.FORBIDDEN, f"{ask.identity} may ask about itself only.")
    return who


def _op(ask: Ask, body: WhyBody) -> tuple[Op, dict[str, Any]]:
    """The op and its arguments under their names; what could not be called is refused as a call is."""
    registry = ask.services.registry
    name, args = registry.normalise(body.op, body.args or {})
    op = registry.find(name)
    if op is None:
        raise Refused(registry.unknown(name))
    checked = None if body.args is None else validate(op, args)
    if isinstance(checked, CallError):
        raise Refused(checked)
    return op, args


async def why(ask: Ask) -> Response:
    """The decision, and what each rule says."""
    body = await read_body(ask.request, WhyBody, ask.services.settings.limits.max_call_bytes)
    who = _asked_about(ask, body.identity)
    op, args = _op(ask, body)
    scopes = ask.asker.scopes if who == ask.identity else ()
    facts = await ask.services.executor.facts_on(who, op.name, scopes, body.thread)
    return answer(explained(who, op.name, args, facts, marked=op.approval))
