"""`/agents/{name}/runs`: what runs of an agent used, told by who ran it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from starlette.responses import Response

from exec_daemon.api.answers import answer
from exec_daemon.api.body import Body, read_body
from exec_daemon.api.endpoints.agents import require_agent
from exec_daemon.api.route import Ask
from exec_daemon.store import AgentRun

Count = Annotated[int | None, Field(ge=0, le=2**53)]
# A billion dollars: what is more is no price.
_MOST_USD = 1e9


class RunBody(Body):
    """`key` makes it count once. What is left out was not reported, which is not zero (A-02)."""

    key: str = Field(min_length=1, max_length=200)
    model: str = Field(default="", max_length=200)
    adapter: str | None = Field(default=None, max_length=64)
    session: str | None = Field(default=None, max_length=200)
    input_tokens: Count = None
    output_tokens: Count = None
    cache_read_tokens: Count = None
    cache_write_tokens: Count = None
    cost_usd: float | None = Field(default=None, ge=0, le=_MOST_USD, allow_inf_nan=False)


def _run(agent: str, body: RunBody) -> AgentRun:
    amounts = body.model_dump(exclude={"cost_usd"})
    cost = None if body.cost_usd is None else round(body.cost_usd * 1_000_000)
    return AgentRun(agent=agent, cost_microusd=cost, **amounts)


async def create(ask: Ask) -> Response:
    """Counts a run; the same key again is no change."""
    body = await read_body(ask.request, RunBody, ask.services.settings.limits.max_call_bytes)
    agent = await require_agent(ask.services.store, ask.request.path_params["name"])
    new = await ask.services.store.add_run(_run(agent.name, body))
    return answer({"agent": agent.name, "key": body.key, "counted": new}, 201 if new else 200)
