"""`GET /ops` and `GET /ops/{op}`: the registry, every op for everybody, `allowed` for the asker (O-50)."""

from __future__ import annotations

from dataclasses import replace

from starlette.responses import Response

from exec_daemon.access.decide import decide
from exec_daemon.api.answers import answer
from exec_daemon.api.problems import Refused
from exec_daemon.api.route import Ask
from messaging import OpInfo
from messaging.ops import catalogue


def _for(ask: Ask, info: OpInfo) -> OpInfo:
    facts = ask.services.executor.facts(ask.identity, ask.asker.scopes)
    decision = decide(ask.identity, info.name, {}, facts)
    return replace(info, allowed=decision.allowed)


async def every(ask: Ask) -> Response:
    """All ops, and a digest over all of them."""
    infos = ask.services.registry.infos
    return answer({"ops": [_for(ask, info).to_json() for info in infos], "digest": catalogue(infos)})


async def one(ask: Ask) -> Response:
    """One op, by its name or an alias."""
    registry = ask.services.registry
    written = ask.request.path_params["op"]
    op = registry.find(written)
    if op is None:
        raise Refused(registry.unknown(written))
    info = next(info for info in registry.infos if info.name == op.name)
    return answer(_for(ask, info).to_json())
