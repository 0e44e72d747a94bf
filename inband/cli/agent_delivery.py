"""What a finished run of an agent leaves with the daemon: its reply, harvested once, and what it used."""

from __future__ import annotations

import uuid
from typing import Any, Final

import click

from harvester import DaemonClient, Harvested
from harvester.adapters import Outcome
from harvester.errors import Refused
from inband.cli.shared import connected, settings_of
from inband.compose import harvested

# What the daemon takes; no name of a model or a session comes near it.
_MOST_NAME_CHARS: Final = 200


def deliver(
    ctx: click.Context, outcome: Outcome, *, adapter: str, agent: str, thread: str | None
) -> tuple[Harvested | None, dict[str, Any]]:
    """Count what was used, then post and harvest the reply.

    Each run is a reply of its own, also when it says what another one said.
    """
    key = f"agent-run:{uuid.uuid4().hex}"
    with connected(ctx, "harvester") as client:
        _count(client, agent, _run(key, adapter, outcome))
        if thread is None or outcome.reply is None:
            return None, {}
        message = client.post_message(thread, outcome.reply, as_agent=agent, key=key).message
        done = harvested(settings_of(ctx), client, message)
    posted = done.posted.to_json() if done.posted else None
    results = [result.to_json() for result in done.results]
    return done, {"reply": message.id, "results": results, "posted": posted}


def _run(key: str, adapter: str, outcome: Outcome) -> dict[str, Any]:
    heard = outcome.heard
    spent = heard.spent.to_json()
    del spent["reasoning_tokens"]  # part of the output tokens
    names = {"model": heard.model, "session": heard.session}
    cut = {name: text[:_MOST_NAME_CHARS] for name, text in names.items() if text}
    return {"key": key, "adapter": adapter} | cut | spent


def _count(client: DaemonClient, agent: str, run: dict[str, Any]) -> None:
    """Whatever the bill looks like, the reply is not lost over it. Not every thread's agent is registered."""
    try:
        client.add_run(agent, **run)
    except Refused as refused:
        click.echo(f"box: what the run used is not counted: {refused.error.message}", err=True)
