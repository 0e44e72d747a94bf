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

# What the daemon takes; no model's name comes near it.
_MOST_MODEL_CHARS: Final = 200


def deliver(
    ctx: click.Context, thread: str | None, agent: str, outcome: Outcome
) -> tuple[Harvested | None, dict[str, Any]]:
    """Count what was used, then post and harvest the reply.

    Each run is a reply of its own, also when it says what another one said.
    """
    key = f"agent-run:{uuid.uuid4().hex}"
    with connected(ctx, "harvester") as client:
        _count(client, agent, key, outcome)
        if thread is None or outcome.reply is None:
            return None, {}
        message = client.post_message(thread, outcome.reply, as_agent=agent, key=key).message
        done = harvested(settings_of(ctx), client, message)
    posted = done.posted.to_json() if done.posted else None
    results = [result.to_json() for result in done.results]
    return done, {"reply": message.id, "results": results, "posted": posted}


def _count(client: DaemonClient, agent: str, key: str, outcome: Outcome) -> None:
    """Whatever the bill looks like, the reply is not lost over it. Not every thread's agent is registered."""
    spent = outcome.heard.spent.to_json()
    del spent["reasoning_tokens"]  # part of the output tokens
    try:
        client.add_run(agent, key, model=(outcome.heard.model or "")[:_MOST_MODEL_CHARS], **spent)
    except Refused as refused:
        click.echo(f"box: what the run used is not counted: {refused.error.message}", err=True)
