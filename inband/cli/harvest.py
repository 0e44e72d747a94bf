"""`box harvest`: find the directives of a reply, run them, post the results."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import replace

import click

from harvester import DaemonClient, Harvested, Parsed, parse
from inband.cli.failures import exit_code_of_result
from inband.cli.progress import waiting
from inband.cli.shared import connected, json_option, read_text, settings_of, show
from inband.compose import harvested, scan_policy
from inband.errors import InputError
from inband.explain import explain
from messaging import Message, digest

# A file is read this far; what `harvest.max_reply_bytes` leaves out of it is reported, not lost.
_MOST_FILE_BYTES = 16 << 20


@click.command(short_help="Run the directives of a reply and post the results.")
@click.argument("file", default="-", metavar="[FILE|-]")
@click.option("--thread", metavar="ID", help="Thread that the reply belongs to; results are posted there.")
@click.option("--agent", metavar="NAME", help="Who wrote the reply (default: the thread's agent).")
@click.option(
    "--again", is_flag=True, help="Treat it as a new reply even if this text was harvested here before."
)
@click.option(
    "--dialect", metavar="NAME", help="Take the calls of this native dialect too; `auto` recognises it."
)
@click.option("--dry-run", is_flag=True, help="Show what would be called; run nothing, need no daemon.")
@click.option(
    "--explain", "explained", is_flag=True, help="Show the reply with each directive and skipped place."
)
@json_option
@click.pass_context
def harvest(
    ctx: click.Context,
    *,
    file: str,
    thread: str | None,
    agent: str | None,
    again: bool,
    dialect: str | None,
    dry_run: bool,
    explained: bool,
    as_json: bool,
) -> int:
    """Run the directives of a reply (FILE, or - for standard input) and post the results.

    \b
    Examples:
      box harvest reply.md --dry-run --json
      box harvest reply.md --explain
      box harvest qwen.txt --dialect auto --dry-run
      box harvest reply.md --thread ops --agent heron
    """
    text = read_text(file, _MOST_FILE_BYTES)
    settings = settings_of(ctx)
    policy = scan_policy(settings)
    if dialect is not None:
        policy = replace(policy, dialect=dialect)
    if explained:
        click.echo("\n".join(explain(text, policy, colour=sys.stdout.isatty() and not _no_colour())))
        return 0
    if dry_run:
        parsed = parse(text, thread=thread or "", policy=policy)
        show(parsed.to_json(), lambda: _planned(parsed), as_json=as_json)
        return 0
    if thread is None:
        raise InputError("a reply needs its thread: add --thread ID, or --dry-run to run nothing")
    with connected(ctx, "harvester") as client:
        reply = _recorded(client, thread, agent, text, again=again)
        with waiting("running the calls"):
            done = harvested(settings, client, reply, policy)
    show(_document(reply, done), lambda: _answered(done), as_json=as_json)
    return int(max((exit_code_of_result(result) for result in done.results), default=0))


def _no_colour() -> bool:
    return bool(os.environ.get("NO_COLOR"))


def _recorded(client: DaemonClient, thread: str, agent: str | None, text: str, *, again: bool) -> Message:
    """The reply as a message of the thread. The same text there is the same reply, unless `again`."""
    if not text.strip():
        raise InputError("the reply is empty; there is nothing to harvest")
    author = agent or client.thread(thread).agent
    if author is None:
        raise InputError(f"thread {thread!r} has no agent; say who wrote the reply with --agent NAME")
    key = None if again else f"harvest:{digest(author, text)}"
    message, replayed = client.post_message(thread, text, as_agent=author, key=key)
    if replayed:
        click.echo(
            "box: this text was harvested here before; its calls do not run again (--again to)", err=True
        )
    return message


def _planned(parsed: Parsed) -> Iterator[str]:
    if not parsed.calls:
        yield "nothing to call"
    for number, found in enumerate(parsed.calls, 1):
        yield f"{number}. {found.call.op} {dict(found.call.args)}  ({found.form})"
    if parsed.verdict:
        yield f"verdict: {parsed.verdict.word}" + (
            f": {parsed.verdict.summary}" if parsed.verdict.summary else ""
        )
    if parsed.skipped:
        yield f"{len(parsed.skipped)} skipped; --explain shows where and why"
    if parsed.notice:
        yield f"limit: {parsed.notice.message}"


def _answered(done: Harvested) -> Iterator[str]:
    yield done.posted.body if done.posted else "nothing to call, nothing posted"


def _document(reply: Message, done: Harvested) -> dict[str, object]:
    return done.parsed.to_json() | {
        "reply": reply.id,
        "results": [result.to_json() for result in done.results],
        "posted": done.posted.to_json() if done.posted else None,
    }
