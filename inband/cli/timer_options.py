"""What `box timer create` and `box timer update` can be told, as one table of options."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

import click

from inband.cli.shared import read_text

F = TypeVar("F", bound=Callable[..., Any])
# With its envelope it is one message; the daemon takes this much.
_MOST_PROMPT_BYTES: Final = 16 * 1024

_OPTIONS: Final = (
    click.option("--agent", "target", metavar="NAME", help="The agent to wake."),
    click.option("--thread", metavar="ID", help="A thread of that agent (default: its home)."),
    click.option("--name", metavar="NAME", help="A name to find it by."),
    click.option(
        "--tz", metavar="ZONE", help="Time zone, such as Europe/Berlin (default: the daemon's own)."
    ),
    click.option(
        "--type",
        "schedule_type",
        type=click.Choice(["cron", "interval", "once"]),
        help="What the schedule is, where its looks do not say.",
    ),
    click.option(
        "--context",
        "context_mode",
        type=click.Choice(["group", "isolated"]),
        help="isolated: each run in a new thread.",
    ),
    click.option(
        "--misfire",
        type=click.Choice(["skip", "run_once"]),
        help="A time that was missed (default: skip; a single time: run_once).",
    ),
    click.option(
        "--overlap",
        type=click.Choice(["skip", "queue"]),
        help="A time while the last run is open (default: skip).",
    ),
    click.option(
        "--gate", "script", metavar="NAME", help="Ask this gate of box.toml before each run ('': none)."
    ),
    click.option("--jitter", "jitter_s", type=int, metavar="S", help="Spread runs over so many seconds."),
    click.option("--max-runs", type=int, metavar="N", help="End after so many runs."),
    click.option("--until", metavar="TIME", help="End at this time."),
    click.option(
        "--pause-after",
        type=int,
        metavar="N",
        help="Pause after N runs in a row that went wrong (5; 0: never).",
    ),
    click.option(
        "--nudge", "nudge_s", type=int, metavar="S", help="Ask for the verdict after S seconds (900)."
    ),
    click.option(
        "--deadline",
        "deadline_s",
        type=int,
        metavar="S",
        help="The verdict is missing after S seconds (1800).",
    ),
)


def policies(command: F) -> F:
    """All options that are arguments of the op."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def prompt_text(text: str | None, file: str | None, *, needed: bool) -> str | None:
    """The message: given, or in a file."""
    if (text is None) == (file is None) and (needed or text is not None):
        raise click.UsageError("give the message or --file, one of them")
    return read_text(file, _MOST_PROMPT_BYTES) if file is not None else text
