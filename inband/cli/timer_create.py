"""`box timer create`: the next five runs are shown before anything is made."""

from __future__ import annotations

import sys
from typing import Any

import click

from inband.cli.shared import connected, harmless, json_option, show
from inband.cli.timer_ops import call_op
from inband.cli.timer_options import policies, prompt_text
from inband.cli.timer_shown import next_lines
from inband.errors import Exit


@click.command(short_help="Make a timer.")
@click.argument("schedule")
@click.argument("prompt", required=False, metavar="[MESSAGE]")
@click.option("--file", metavar="FILE", help="Read the message from a file (- for standard input).")
@policies
@click.option("--yes", "-y", is_flag=True, help="Make it without asking.")
@json_option
@click.pass_context
def create(
    ctx: click.Context,
    /,
    *,
    schedule: str,
    prompt: str | None,
    file: str | None,
    yes: bool,
    as_json: bool,
    **policy: Any,
) -> int:
    """Make a timer that wakes an agent with MESSAGE.

    SCHEDULE is a cron line or @hourly, @daily, @weekly, an interval such as 90s, 5m or 1h30m, or a time such
    as 2026-12-01T09:00. The next five runs are shown, and on a terminal you are asked.

    \b
    Examples:
      box timer create "30 7 * * 1-5" "Check the disks." --agent heron --tz Europe/Berlin
      box timer create 15m "Look at the queue." --agent heron --name queue --yes
      box timer create 2026-12-24T18:00 --file greeting.md --agent heron
    """
    text = prompt_text(prompt, file, needed=True)
    with connected(ctx) as client:
        planned = client.preview_timer(schedule, policy["schedule_type"], policy["tz"])
        if not _agreed(planned, yes=yes, as_json=as_json):
            click.echo("box: nothing was made", err=True)
            return Exit.FAILED
        made = call_op(client, "cron.create", {"schedule": schedule, "prompt": text, **policy})
    show(made, lambda: [made["id"]], as_json=as_json)
    return Exit.OK


def _agreed(planned: dict[str, Any], *, yes: bool, as_json: bool) -> bool:
    """Shows the next runs; asks where somebody can answer (no prompts without a terminal)."""
    if not as_json:
        click.echo(f"{planned['schedule_type']}, zone {planned['tz']}", err=True)
        for line in next_lines(planned["next"]):
            click.echo(harmless(line), err=True)
    if yes or as_json or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return True
    return click.confirm("Make this timer?", err=True)
