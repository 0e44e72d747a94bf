"""`box thread`: conversations: list, show, create, post, follow."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import click

from harvester import DaemonClient
from inband.cli.shared import connected, harmless, json_option, json_text, read_text, settings_of, show, table
from messaging import Message, MessageKind, strip_terminal

_MOST_BODY_BYTES = 1 << 20


@click.group()
def thread() -> None:
    """Look at threads and write into them."""


@thread.command("list")
@json_option
@click.pass_context
def list_threads(ctx: click.Context, *, as_json: bool) -> None:
    """List the threads that you may see. Example: box thread list"""
    with connected(ctx) as client:
        found = client.threads()
    rows = [(one.id, one.agent, one.last_seq, one.last_at, one.title) for one in found]
    empty = ["no threads yet; `box thread create ops --agent heron` makes one"]
    header = ("THREAD", "AGENT", "MESSAGES", "LAST", "TITLE")
    show(
        {"threads": [one.to_json() for one in found]},
        lambda: table(rows, header) if rows else empty,
        as_json=as_json,
    )


@thread.command()
@click.argument("thread_id", metavar="ID")
@click.option(
    "--after", type=click.IntRange(0), default=0, metavar="SEQ", help="Only messages after this one."
)
@json_option
@click.pass_context
def show_thread(ctx: click.Context, *, thread_id: str, after: int, as_json: bool) -> None:
    """Show a thread with its messages. Example: box thread show ops"""
    with connected(ctx) as client:
        head = client.thread(thread_id)
        messages = _all_messages(client, thread_id, after)
    document = {"thread": head.to_json(), "messages": [one.to_json() for one in messages]}
    show(document, lambda: _whole(messages, settings_of(ctx)["harvest.dialect"]), as_json=as_json)


thread.add_command(show_thread, "show")


def _all_messages(client: DaemonClient, thread_id: str, after: int) -> list[Message]:
    found: list[Message] = []
    while page := client.messages(thread_id, after=found[-1].seq if found else after):
        found.extend(page)
    return found


def _whole(messages: list[Message], dialect: str) -> Iterator[str]:
    for message in messages:
        yield from lines_of(message, dialect)


def _body(message: Message, dialect: str) -> str:
    """Of a reply in a native dialect the content is shown, not the markup; `--json` has it as written."""
    if not dialect or not message.is_reply:
        return message.body
    from harvester.native import shown

    return shown(message.body, dialect)


def lines_of(message: Message, dialect: str = "") -> Iterator[str]:
    """One message for a person: who, when, what kind, and the body indented under it."""
    who = "results" if message.kind is MessageKind.RESULT else message.author
    yield click.style(f"{message.seq:>3}  {who}", bold=True) + f"  {message.created_at}  {message.kind}"
    for line in strip_terminal(_body(message, dialect)).splitlines() or [""]:
        yield f"     {line}".rstrip()
    yield ""


@thread.command()
@click.argument("thread_id", metavar="[ID]", required=False)
@click.option("--title", default="", help="What it is about.")
@click.option("--agent", metavar="NAME", help="The agent that answers in it.")
@json_option
@click.pass_context
def create(
    ctx: click.Context, *, thread_id: str | None, title: str, agent: str | None, as_json: bool
) -> None:
    """Make a thread. Example: box thread create ops --agent heron --title "Nightly checks" """
    with connected(ctx) as client:
        made = client.create_thread(id=thread_id, title=title, agent=agent)
    show(made.to_json(), lambda: [made.id], as_json=as_json)


@thread.command()
@click.argument("thread_id", metavar="ID")
@click.argument("body", required=False, metavar="[TEXT]")
@click.option("--file", metavar="FILE", help="Read the text from a file (- for standard input).")
@click.option(
    "--as", "as_agent", metavar="AGENT", help="Record it as this agent's reply; its directives run."
)
@json_option
@click.pass_context
def post(
    ctx: click.Context,
    *,
    thread_id: str,
    body: str | None,
    file: str | None,
    as_agent: str | None,
    as_json: bool,
) -> None:
    """Write a message into a thread.

    \b
    Examples:
      box thread post ops "How full is the disk?"
      box thread post ops --file reply.md --as heron
    """
    if (body is None) == (file is None):
        raise click.UsageError("give the text or --file, one of them")
    text = body if body is not None else read_text(file or "-", _MOST_BODY_BYTES)
    with connected(ctx) as client:
        made, _ = client.post_message(thread_id, text, as_agent=as_agent)
    show(made.to_json(), lambda: [made.id], as_json=as_json)


@thread.command()
@click.argument("thread_id", metavar="ID")
@click.option(
    "--after",
    default=None,
    type=click.IntRange(0),
    metavar="SEQ",
    help="Start after this one (default: from now on).",
)
@json_option
@click.pass_context
def follow(ctx: click.Context, *, thread_id: str, after: int | None, as_json: bool) -> None:
    """Show messages as they come, until Ctrl-C. With --json one document a line.

    Example: box thread follow ops
    """
    dialect = settings_of(ctx)["harvest.dialect"]
    with connected(ctx) as client:
        start = client.thread(thread_id).last_seq if after is None else after
        click.echo(f"box: following {thread_id}; Ctrl-C ends", err=True)
        for message in client.stream(thread_id, after=start):
            lines = [json_text(message.to_json())] if as_json else map(harmless, lines_of(message, dialect))
            click.echo("\n".join(lines))
            sys.stdout.flush()
