"""`box wrap`: the envelope that a timer or job message travels in."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import click

from inband.cli.shared import connected, read_text
from prompt_envelope import EnvelopeContext
from prompt_envelope import unwrap as unwrapped
from prompt_envelope import wrap as wrapped

_MOST_MESSAGE_BYTES = 256 << 10


class Moment(click.ParamType[datetime]):
    """`2026-12-01T07:00+01:00`; without an offset it is this machine's time."""

    name = "time"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """A moment with its zone."""
        try:
            return datetime.fromisoformat(str(value)).astimezone()
        except ValueError:
            self.fail(f"{value!r} is no time; write 2026-12-01T07:00 or 2026-12-01T07:00+01:00", param, ctx)


@click.command(short_help="Wrap a message as an agent gets it from a timer.")
@click.argument("file", default="-", metavar="[FILE|-]")
@click.option("--job", metavar="ID", help="The job that the message belongs to.")
@click.option("--timer", metavar="NAME", help="The timer that fired.")
@click.option("--thread", metavar="ID", help="Where the answer goes.")
@click.option("--due", type=Moment(), metavar="TIME", help="When it was due.")
@click.option("--deadline", type=Moment(), metavar="TIME", help="When the answer is expected.")
@click.option("--worker", metavar="SESSION", help="tmux session of the worker that belongs to it.")
@click.option("--unwrap", is_flag=True, help="The other way: print the message that an envelope holds.")
@click.pass_context
def wrap(ctx: click.Context, /, file: str, *, unwrap: bool, **facts: Any) -> None:
    """Wrap a message (FILE, or - for standard input) in the envelope that tells an agent its verbs.

    The verbs come from the running daemon.

    \b
    Example:
      echo "Check the disks." | box wrap --timer nightly-disk --thread ops
    """
    text = read_text(file, _MOST_MESSAGE_BYTES)
    if unwrap:
        click.echo(unwrapped(text), nl=False)
        return
    with connected(ctx) as client:
        ops = client.ops()
    click.echo(wrapped(text, EnvelopeContext(now=datetime.now().astimezone(), **facts), ops), nl=False)
