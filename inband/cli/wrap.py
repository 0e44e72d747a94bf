"""`box wrap`: the envelope that a timer or job message travels in."""

from __future__ import annotations

import click

from inband.cli.shared import connected, read_text
from prompt_envelope import EnvelopeContext
from prompt_envelope import wrap as wrapped

_MOST_MESSAGE_BYTES = 256 << 10


@click.command()
@click.argument("file", default="-", metavar="[FILE|-]")
@click.option("--job", metavar="ID", help="The job that the message belongs to.")
@click.option("--timer", metavar="NAME", help="The timer that fired.")
@click.option("--thread", metavar="ID", help="Where the answer goes.")
@click.option("--due", metavar="TIME", help="When it was due, with its time zone.")
@click.option("--deadline", metavar="TIME", help="When the answer is expected.")
@click.pass_context
def wrap(ctx: click.Context, *, file: str, **fields: str | None) -> None:
    """Wrap a message (FILE, or - for standard input) in the envelope that tells an agent its verbs.

    The verbs come from the running daemon.

    \b
    Example:
      echo "Check the disks." | box wrap --timer nightly-disk --thread ops
    """
    text = read_text(file, _MOST_MESSAGE_BYTES)
    with connected(ctx) as client:
        ops = client.ops()
    context = EnvelopeContext(**{key: value for key, value in fields.items() if value is not None})
    click.echo(wrapped(text, context, ops))
