"""`box worker`: agents that were started for one thing, and how they fare."""

from __future__ import annotations

from typing import Any, Final

import click

from inband.cli.shared import connected, json_option, show, table
from inband.cli.timer_ops import call_op
from inband.cli.worker_shown import spawned_lines, worker_lines, worker_rows
from inband.errors import Exit

_HEADER: Final = ("WORKER", "NAME", "OF", "FOR", "STATE", "SEEN", "ATTACH")


@click.group(short_help="Start agents for one thing, and see how they fare.")
def worker() -> None:
    """Workers: agents of a template in box.toml, each with a thread, a job and a verdict of its own."""


@worker.command("list")
@click.option("--all", "everything", is_flag=True, help="Those that are over too.")
@json_option
@click.pass_context
def list_workers(ctx: click.Context, *, everything: bool, as_json: bool) -> int:
    """List workers, the newest first. Example: box worker list"""
    with connected(ctx) as client:
        found = client.workers(everything=everything).workers
    show(
        {"workers": found},
        lambda: table(worker_rows(found), _HEADER) if found else ["no workers"],
        as_json=as_json,
    )
    return Exit.OK


@worker.command("show")
@click.argument("worker_id", metavar="ID")
@json_option
@click.pass_context
def show_worker(ctx: click.Context, *, worker_id: str, as_json: bool) -> int:
    """Show a worker; `box thread show ID` has what was said. Example: box worker show w-6b1f0c"""
    with connected(ctx) as client:
        found = client.worker(worker_id)
    show(found, lambda: worker_lines(found), as_json=as_json)
    return Exit.OK


@worker.command("spawn")
@click.argument("prompt")
@click.option("--agent", metavar="TEMPLATE", help="A template of box.toml (default: the only one).")
@click.option("--name", help="What to call it (default: its id).")
@click.option("--cwd", metavar="DIR", help="Where it works, beneath the template's folder.")
@click.option("--count", type=click.IntRange(1, 8), help="How many of them (default: 1).")
@click.option("--timeout", "timeout_s", type=click.IntRange(1), help="Seconds for its verdict.")
@json_option
@click.pass_context
def spawn(ctx: click.Context, /, *, prompt: str, as_json: bool, **given: Any) -> int:
    """Start workers that do what PROMPT says.

    \b
    Examples:
      box worker spawn "Find out why the build is red." --agent coder
      box worker spawn "Read one chapter each." --agent reader --count 3
    """
    with connected(ctx) as client:
        made = call_op(client, "swarm.spawn", {"prompt": prompt, **given})
    show(made, lambda: spawned_lines(made), as_json=as_json)
    return Exit.OK


@worker.command("send")
@click.argument("worker_id", metavar="ID")
@click.argument("text")
@json_option
@click.pass_context
def send(ctx: click.Context, *, worker_id: str, text: str, as_json: bool) -> int:
    """Tell a worker something more; ID may be its name. Example: box worker send build hurry"""
    with connected(ctx) as client:
        sent = call_op(client, "swarm.send", {"worker": worker_id, "text": text})
    show(sent, lambda: [sent["message_id"]], as_json=as_json)
    return Exit.OK


@worker.command("stop")
@click.argument("worker_id", metavar="ID")
@click.option("--reason", metavar="TEXT", help="Why, for its record.")
@json_option
@click.pass_context
def stop(ctx: click.Context, *, worker_id: str, reason: str | None, as_json: bool) -> int:
    """Stop a worker and all that it started; ID may be its name. Example: box worker stop build"""
    with connected(ctx) as client:
        stopped = call_op(client, "swarm.stop", {"worker": worker_id, "reason": reason})
    show(stopped, lambda: [f"{stopped['name']}: {stopped['state']}"], as_json=as_json)
    return Exit.OK
