"""`box order`: have an agent do one thing now."""

from __future__ import annotations

import click

from inband.cli.shared import connected, json_option, show
from inband.cli.timer_options import prompt_text
from inband.errors import Exit


@click.command(short_help="Have an agent do one thing now.")
@click.argument("agent")
@click.argument("title")
@click.argument("text", required=False, metavar="[TEXT]")
@click.option("--file", metavar="FILE", help="Read the text from a file (- for standard input).")
@click.option("--thread", metavar="ID", help="A thread of that agent (default: its home).")
@click.option("--nudge", "nudge_s", type=int, metavar="S", help="Ask for the verdict after S seconds (900).")
@click.option(
    "--deadline", "deadline_s", type=int, metavar="S", help="The verdict is missing after S seconds (1800)."
)
@json_option
@click.pass_context
def order(
    ctx: click.Context,
    *,
    agent: str,
    title: str,
    text: str | None,
    file: str | None,
    thread: str | None,
    nudge_s: int | None,
    deadline_s: int | None,
    as_json: bool,
) -> int:
    """Send AGENT a work order; its job ends with the agent's verdict.

    \b
    Examples:
      box order heron "Free the disk" "Find what fills /var and say what may go."
      box order heron "Release notes" --file notes.md --deadline 7200
    """
    said = prompt_text(text, file, needed=True) or ""
    with connected(ctx) as client:
        run = client.order(agent, title, said, thread=thread, nudge_s=nudge_s, deadline_s=deadline_s)
    show(run, lambda: [run["job"]], as_json=as_json)
    return Exit.OK
