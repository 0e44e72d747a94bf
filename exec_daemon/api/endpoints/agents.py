"""`/agents`: who can be written to."""

from __future__ import annotations

from dataclasses import asdict

from pydantic import Field
from starlette.responses import Response

from exec_daemon.api.answers import answer
from exec_daemon.api.body import Body, read_body
from exec_daemon.api.problems import refuse
from exec_daemon.api.route import Ask
from exec_daemon.store import Agent, Store
from messaging import ErrorCode
from messaging.near import did_you_mean, near


class AgentBody(Body):
    """`thread` is the id of its home; the agent's name where it is left out."""

    name: str = Field(
        pattern=r"^[a-z0-9][a-z0-9._-]{0,63}$",
        description="a name of 1 to 64 lower-case letters, digits, . _ and -, not beginning with . _ or -",
    )
    thread: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z0-9_][A-Za-z0-9_-]{0,127}$",
        description="an id of 1 to 128 letters, digits, _ and -, that does not begin with -",
    )


async def require_agent(store: Store, name: str) -> Agent:
    """The agent; raises `Refused` with NOT_FOUND and near names."""
    agent = await store.agent(name)
    if agent is None:
        close = near(name, [known.name for known in await store.agents()])
        text = f"There is no agent {name[:64]!r}.{did_you_mean(close)} `box agent add` registers one."
        raise refuse(ErrorCode.NOT_FOUND, text, suggestions=close)
    return agent


async def every(ask: Ask) -> Response:
    """All agents, by name."""
    return answer({"agents": [asdict(agent) for agent in await ask.services.store.agents()]})


async def create(ask: Ask) -> Response:
    """Registers an agent and makes its home thread. The same again is no change."""
    limits = ask.services.settings.limits
    body = await read_body(ask.request, AgentBody, limits.max_call_bytes)
    # Thread ids have no dots (O 7.1).
    wanted = Agent(name=body.name, thread=body.thread or body.name.replace(".", "-"))
    known = await ask.services.store.agent(body.name)
    if known is not None and known.thread == wanted.thread:
        return answer(asdict(known))
    return answer(asdict(await ask.services.store.add_agent(wanted)), 201)
