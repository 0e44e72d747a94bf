"""`box ops`: what can be called, and what has side effects."""

from __future__ import annotations

import json
from collections.abc import Iterator

import click

from inband.cli.shared import connected, json_option, show, table
from messaging import OpInfo
from messaging.op_formats import FORMATS


@click.command()
@click.argument("op", required=False)
@click.option(
    "--format",
    "form",
    type=click.Choice(list(FORMATS)),
    help="As JSON, function schemas, MCP tools, a page, or pins for box.toml.",
)
@json_option
@click.pass_context
def ops(ctx: click.Context, *, op: str | None, form: str | None, as_json: bool) -> None:
    """List all ops, or show one with its arguments and an example.

    \b
    Examples:
      box ops
      box ops dm.send
      box ops --format openai > tools.json
    """
    with connected(ctx) as client:
        if form is not None:
            click.echo(FORMATS[form]([client.op(op)] if op else client.ops()))
            return
        if op is not None:
            one = client.op(op)
            show(one.to_json(), lambda: _one(one), as_json=as_json)
            return
        found = client.ops()
    show({"ops": [one.to_json() for one in found]}, lambda: _all(found), as_json=as_json)


def _all(found: list[OpInfo]) -> Iterator[str]:
    rows = [
        (one.name, "effect" if one.side_effecting else "read", _allowed(one), one.summary) for one in found
    ]
    yield from table(rows, ("OP", "KIND", "ALLOWED", "WHAT IT DOES"))


def _allowed(one: OpInfo) -> str:
    return {True: "yes", False: "no", None: "?"}[one.allowed]


def _one(one: OpInfo) -> Iterator[str]:
    yield f"{one.name}: {one.summary}"
    yield "has side effects" if one.side_effecting else "read-only"
    if one.approval:
        yield "a person approves each call"
    rows = [
        (name, "required" if name in one.required else "", _kind(schema), schema.get("description", ""))
        for name, schema in one.args_schema.get("properties", {}).items()
    ]
    if rows:
        yield ""
        yield from table(rows, ("ARGUMENT", "", "TYPE", "MEANING"))
    if one.actions:
        yield ""
        yield from table([(name, arg) for name, arg in one.actions], ("ACTION", "ARGUMENT"))
    yield ""
    yield f"also called: {', '.join(one.aliases) or '-'}"
    yield f"digest: {one.digest}"
    yield f"example: box call {one.name} '{json.dumps(dict(one.example), ensure_ascii=False)}'"


def _kind(schema: dict[str, object]) -> str:
    choices = schema.get("anyOf")
    if isinstance(choices, list):
        return " or ".join(str(choice.get("type", "any")) for choice in choices)
    return str(schema.get("type", "any"))
