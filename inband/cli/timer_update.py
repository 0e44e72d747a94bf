"""`box timer update`: what is not named stays."""

from __future__ import annotations

from typing import Any

import click

from inband.cli.shared import connected, json_option, show
from inband.cli.timer_ops import call_op
from inband.cli.timer_options import policies, prompt_text
from inband.cli.timer_shown import timer_lines
from inband.errors import Exit


@click.command(short_help="Change a timer.")
@click.argument("timer_id", metavar="ID")
@click.option("--schedule", metavar="SCHEDULE", help="Another schedule.")
@click.option("--prompt", metavar="MESSAGE", help="Another message.")
@click.option("--file", metavar="FILE", help="Read the message from a file (- for standard input).")
@policies
@json_option
@click.pass_context
def update(
    ctx: click.Context,
    /,
    *,
    timer_id: str,
    schedule: str | None,
    prompt: str | None,
    file: str | None,
    as_json: bool,
    **policy: Any,
) -> int:
    """Change a timer; what you do not name stays. Example: box timer update queue --schedule 30m"""
    text = prompt_text(prompt, file, needed=False)
    wanted = {"id": timer_id, "schedule": schedule, "prompt": text, **policy}
    with connected(ctx) as client:
        changed = call_op(client, "cron.update", wanted)
    show(changed, lambda: timer_lines(changed), as_json=as_json)
    return Exit.OK
