"""`box why`: which rule lets a call through or stops it, and where that rule stands."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import click

from inband.cli.shared import connected, json_argument, json_option, show, table


@click.command(short_help="Which rule decides on a call, and where it stands.")
@click.argument("identity", metavar="KIND/NAME")
@click.argument("op")
@click.argument("arguments", required=False, metavar="[JSON|-]")
@click.option("--thread", metavar="ID", help="Thread that the call would be made in.")
@json_option
@click.pass_context
def why(
    ctx: click.Context, *, identity: str, op: str, arguments: str | None, thread: str | None, as_json: bool
) -> None:
    """Say whether IDENTITY may call OP, by which rule, and where the rule is written.

    Nothing is called. Without arguments only the op is asked about.

    \b
    Examples:
      box why agent/heron dm.send '{"to": "wren", "text": "hello"}'
      box why worker/w1 cron.create
    """
    args = None if arguments is None else json_argument(arguments, "the arguments")
    with connected(ctx) as client:
        found = client.why(identity, op, args, thread)
    show(found, lambda: _lines(found), as_json=as_json)


def _lines(found: dict[str, Any]) -> Iterator[str]:
    verdict = "may call" if found["allowed"] else "may not call"
    yield f"{found['identity']} {verdict} {found['op']}: {found['reason']}"
    yield f"decided by   {found['rule']}"
    yield f"which stands {found['where']}"
    if found["approval"]:
        yield f"a person has to approve it first: {found['approval']}"
    yield ""
    rules = [(row["rule"], "ok" if row["holds"] else "stops it", row["where"]) for row in found["rules"]]
    yield from table(rules, ("RULE", "", "WHERE"))
    yield ""
    rates = [(row["what"], row["per_minute"] or "no limit", row["where"]) for row in found["rates"]]
    yield from table(rates, ("RATE", "A MINUTE", "WHERE"))
