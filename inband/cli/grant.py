"""`box grant`: who may do what, while the daemon runs."""

from __future__ import annotations

import json
from typing import Any, Final

import click

from inband.cli.shared import connected, json_option, show, table

# Option -> key of a grant; each may be given several times.
_LISTS: Final = {
    "allow": "allow",
    "deny": "deny",
    "recipient": "recipients",
    "wakes": "wakes",
    "box": "box",
    "approval": "approval",
}


class Rate(click.ParamType[tuple[str, int]]):
    """`dm.send=5`: a glob over ops and how often a minute."""

    name = "rate"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, int]:
        """The glob and the number."""
        glob, _, number = str(value).partition("=")
        if not glob or not number.isascii() or not number.isdigit():
            self.fail(f"{value!r} is no rate; write OPS=CALLS, such as dm.send=5", param, ctx)
        return glob, int(number)


@click.group()
def grant() -> None:
    """Say who may do what; it holds from the next call on."""


@grant.command("list")
@json_option
@click.pass_context
def list_grants(ctx: click.Context, *, as_json: bool) -> None:
    """List all grants: of the store, of box.toml, built in. Example: box grant list"""
    with connected(ctx) as client:
        found = client.grants()
    rows = [(row["place"], row["subject"], _said(row["rules"])) for row in found]
    show({"grants": found}, lambda: table(rows, ("WHERE", "OF", "WHAT")), as_json=as_json)


def _said(rules: dict[str, Any]) -> str:
    return "; ".join(f"{key} {_value(value)}" for key, value in rules.items()) or "nothing"


def _value(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(value) or "none"
    return json.dumps(value) if isinstance(value, dict) else str(value)


@grant.command("set")
@click.argument("subject", metavar="ROLE|KIND/NAME")
@click.option("--allow", multiple=True, metavar="OPS", help="Ops that it may call; no other.")
@click.option("--deny", multiple=True, metavar="OPS", help="Ops that it may not call, whatever else is said.")
@click.option("--recipient", multiple=True, metavar="NAME", help="Agents that it may write to; no other.")
@click.option("--wakes", multiple=True, metavar="NAME", help="Agents that its timers may wake; no other.")
@click.option("--box", multiple=True, metavar="READ", help="Reads of the box: disk, logs, logs:nginx*.")
@click.option("--approval", multiple=True, metavar="OPS", help="Ops that a person approves each time.")
@click.option("--reads", type=int, metavar="N", help="Read-only calls a minute; 0 for no limit.")
@click.option("--writes", type=int, metavar="N", help="Side-effecting calls a minute; 0 for no limit.")
@click.option("--rate", type=Rate(), multiple=True, metavar="OPS=N", help="Calls of these ops a minute.")
@json_option
@click.pass_context
def set_grant(ctx: click.Context, /, *, subject: str, as_json: bool, **said: Any) -> None:
    """Replace what the store grants to a role or an identity. OPS are globs.

    What an option does not say is left to the grants below: docs/grants.md has the order.

    \b
    Examples:
      box grant set agent/heron --deny 'cron.*' --rate dm.send=5
      box grant set agent --allow tools.list --allow box.exec --box disk --box logs:nginx*
    """
    with connected(ctx) as client:
        made = client.set_grant(subject, _rules(said))
    show(made, lambda: [f"{made['subject']}: {_said(made['rules'])}"], as_json=as_json)


def _rules(said: dict[str, Any]) -> dict[str, Any]:
    rules: dict[str, Any] = {key: list(said[option]) for option, key in _LISTS.items() if said[option]}
    numbers = {"reads_per_minute": said["reads"], "writes_per_minute": said["writes"]}
    rules |= {key: number for key, number in numbers.items() if number is not None}
    return rules | ({"rates": dict(said["rate"])} if said["rate"] else {})


@grant.command("remove")
@click.argument("subject", metavar="ROLE|KIND/NAME")
@click.pass_context
def remove_grant(ctx: click.Context, *, subject: str) -> None:
    """Take the store's grant of SUBJECT away. Example: box grant remove agent/heron"""
    with connected(ctx) as client:
        client.remove_grant(subject)
    click.echo(f"box: the store grants nothing to {subject} any more", err=True)
