"""`box agent`: who can be written to, and their command lines: add, list, run, replay."""

from __future__ import annotations

import click

from inband.cli.agent_replay import replay
from inband.cli.agent_run import run_agent
from inband.cli.shared import connected, json_option, show, table


@click.group(short_help="Register agents, run their command lines.")
def agent() -> None:
    """Register agents (messages can be sent to registered ones only), and run their command lines."""


agent.add_command(run_agent)
agent.add_command(replay)


@agent.command()
@click.argument("name")
@click.option(
    "--thread", metavar="ID", help="Its home thread, where messages to it arrive (default: its name)."
)
@json_option
@click.pass_context
def add(ctx: click.Context, *, name: str, thread: str | None, as_json: bool) -> None:
    """Register an agent and make its home thread. Example: box agent add heron"""
    with connected(ctx) as client:
        made = client.add_agent(name, thread=thread)
    show(made, lambda: [f"{made['name']}: messages arrive in thread {made['thread']}"], as_json=as_json)


@agent.command("list")
@json_option
@click.pass_context
def list_agents(ctx: click.Context, *, as_json: bool) -> None:
    """List the registered agents. Example: box agent list"""
    with connected(ctx) as client:
        found = client.agents()
    rows = [(one["name"], one["thread"]) for one in found]
    empty = ["no agents yet; `box agent add heron` registers one"]
    show({"agents": found}, lambda: table(rows, ("AGENT", "HOME THREAD")) if rows else empty, as_json=as_json)
