"""`/orders`: a person has an agent do one thing now (O-83)."""

from __future__ import annotations

from pydantic import Field
from starlette.responses import Response

from exec_daemon.api.answers import answer
from exec_daemon.api.body import Body, read_body
from exec_daemon.api.endpoints.agents import require_agent
from exec_daemon.api.problems import refuse
from exec_daemon.api.route import Ask
from exec_daemon.timers.orders import Order
from exec_daemon.timers.view import shown_run
from messaging import ErrorCode

_MOST_TEXT_CHARS = 16 * 1024


class OrderBody(Body):
    """`thread` is one of the agent's; its home where it is left out."""

    agent: str = Field(max_length=64)
    title: str = Field(pattern=r"^[^\x00-\x1f\x7f]{1,80}$", description="one line of at most 80 characters")
    text: str = Field(min_length=1, max_length=_MOST_TEXT_CHARS)
    thread: str | None = Field(default=None, max_length=128)
    nudge_s: int = Field(default=900, ge=1, le=604_800)
    deadline_s: int = Field(default=1800, ge=1, le=604_800)


async def create(ask: Ask) -> Response:
    """Sends the order; its job is open until the agent's verdict."""
    services = ask.services
    body = await read_body(ask.request, OrderBody, services.settings.limits.max_call_bytes)
    agent = await require_agent(services.store, body.agent)
    if body.thread is not None:
        thread = await services.store.thread(body.thread)
        if thread is None or thread.agent != agent.name:
            raise refuse(ErrorCode.NOT_FOUND, f"There is no thread {body.thread!r} of {agent.name}.")
    run = await services.timers.order(Order(created_by=str(ask.identity), **body.model_dump()))
    assert run is not None
    return answer(shown_run(run), 201)
