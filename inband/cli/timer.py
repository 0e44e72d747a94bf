"""`box timer`: what wakes agents, when, and what came of it."""

from __future__ import annotations

from typing import Any, Final

import click

from inband.cli.shared import connected, json_option, show, table
from inband.cli.timer_create import create
from inband.cli.timer_ops import call_op
from inband.cli.timer_shown import history_lines, timer_lines, timer_rows
from inband.cli.timer_update import update
from inband.errors import Exit

_HEADER: Final = ("TIMER", "NAME", "WAKES", "SCHEDULE", "ZONE", "STATE", "NEXT", "LAST")


@click.group(short_help="Wake agents at set times, and see what came of it.")
def timer() -> None:
    """Timers: each wakes an agent with a message, and a run ends with the agent's verdict."""


timer.add_command(create)
timer.add_command(update)


@timer.command("list")
@click.option("--all", "everything", is_flag=True, help="Completed and cancelled ones too.")
@click.option("--limit", default=50, show_default=True, help="At most this many, the next one first.")
@json_option
@click.pass_context
def list_timers(ctx: click.Context, *, everything: bool, limit: int, as_json: bool) -> int:
    """List timers, the one that is due next first. Example: box timer list"""
    with connected(ctx) as client:
        result = call_op(client, "cron.list", {"state": "all" if everything else "listed", "limit": limit})
    found = result["timers"]
    show(result, lambda: table(timer_rows(found), _HEADER) if found else ["no timers"], as_json=as_json)
    return Exit.OK


@timer.command("show")
@click.argument("timer_id", metavar="ID")
@json_option
@click.pass_context
def show_timer(ctx: click.Context, *, timer_id: str, as_json: bool) -> int:
    """Show a timer with its next five runs; ID may be its name. Example: box timer show queue"""
    with connected(ctx) as client:
        found = client.timer(timer_id)
    show(found, lambda: timer_lines(found), as_json=as_json)
    return Exit.OK


@timer.command("history")
@click.argument("timer_id", metavar="ID")
@click.option("--limit", default=20, show_default=True, help="At most this many, the newest first.")
@json_option
@click.pass_context
def history(ctx: click.Context, *, timer_id: str, limit: int, as_json: bool) -> int:
    """Show what ran, what was skipped and why, and how it ended. Example: box timer history queue"""
    with connected(ctx) as client:
        found, runs = client.timer(timer_id), client.timer_runs(timer_id, limit)
    show({"timer": found["id"], "runs": runs}, lambda: history_lines(runs, found["tz"]), as_json=as_json)
    return Exit.OK


@timer.command("run")
@click.argument("timer_id", metavar="ID")
@json_option
@click.pass_context
def run_now(ctx: click.Context, *, timer_id: str, as_json: bool) -> int:
    """Run a timer now, beside its schedule. Example: box timer run queue"""
    with connected(ctx) as client:
        made = client.run_timer(timer_id)
    asks = f"its gate is asked first; box timer history {timer_id}"
    show(made, lambda: [made["job"] or asks], as_json=as_json)
    return Exit.OK


def _command(verb: str, what: str, past: str) -> None:
    """One of the three that take an id and a reason."""

    @timer.command(verb, help=f"{what} Example: box timer {verb} queue")
    @click.argument("timer_id", metavar="ID")
    @click.option("--reason", metavar="TEXT", help="Why, for its history.")
    @json_option
    @click.pass_context
    def change(ctx: click.Context, *, timer_id: str, reason: str | None, as_json: bool) -> int:
        with connected(ctx) as client:
            changed: dict[str, Any] = call_op(client, f"cron.{verb}", {"id": timer_id, "reason": reason})
        show(changed, lambda: [f"{changed['name']}: {past}"], as_json=as_json)
        return Exit.OK


_command("pause", "Send nothing until it is resumed.", "paused")
_command("resume", "Let a paused timer go on with its next time.", "resumed")
_command("cancel", "Take a timer off the list; its open runs end, its history stays.", "cancelled")
