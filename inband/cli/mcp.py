"""`box mcp`: which tools of MCP servers agents may call, as an operator approves them."""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import Iterator
from typing import Any

import click

from exec_daemon.home import Home, prepare
from exec_daemon.mcp_servers.pins import Pin, keep, pins
from exec_daemon.mcp_servers.spec import McpSpec, specs
from inband.cli.progress import waiting
from inband.cli.shared import harmless, json_option, json_text, settings_of, show, table
from inband.errors import FrontDoorError, InputError
from messaging import spelled


@click.group()
def mcp() -> None:
    """Tools of MCP servers as ops: look at them, approve them.

    The servers stand in box.toml under [mcp]; docs/mcp.md says how.
    """


@mcp.command("list")
@json_option
@click.pass_context
def every(ctx: click.Context, *, as_json: bool) -> None:
    """The tools that box.toml names, and which are approved. Asks no server."""
    settings = settings_of(ctx)
    home = Home(settings.home)
    rows = [
        {"server": spec.name, "tool": tool, "op": spec.op_name(tool), "approved": tool in approved}
        for spec in specs(settings["mcp"])
        for approved in [pins(home, spec.name)]
        for tool in spec.tools
    ]
    cells = [(row["op"], row["server"], row["tool"], "yes" if row["approved"] else "no") for row in rows]
    show({"tools": rows}, lambda: table(cells, ("OP", "SERVER", "TOOL", "APPROVED")), as_json=as_json)


@mcp.command()
@click.argument("server")
@json_option
@click.pass_context
def review(ctx: click.Context, *, server: str, as_json: bool) -> None:
    """What SERVER offers now, beside what was approved.

    \b
    Examples:
      box mcp review github
    """
    spec, home = _spec(ctx, server)
    offered, approved = _offered(spec), pins(home, spec.name)
    document = [
        {**pin.to_json(), "state": _state(spec, pin, approved.get(name))} for name, pin in offered.items()
    ]
    gone = [name for name in approved if name not in offered]
    show({"tools": document, "gone": gone}, lambda: _lines(document, gone), as_json=as_json)


@mcp.command()
@click.argument("server")
@click.argument("tools", nargs=-1)
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.pass_context
def approve(ctx: click.Context, *, server: str, tools: tuple[str, ...], yes: bool) -> None:
    """Approve TOOLS of SERVER, or all that box.toml names, as they are now.

    Each is shown whole first. The daemon takes them at its next start.

    \b
    Examples:
      box mcp approve github
      box mcp approve github search_issues
    """
    spec, home = _spec(ctx, server)
    offered, approved = _offered(spec), pins(home, spec.name)
    for name in tools or spec.tools:
        pin = _wanted(spec, offered, name)
        if approved.get(name) != pin and _agreed(spec, pin, approved.get(name), yes=yes):
            approved[name] = pin
    prepare(home.root)
    keep(home, spec.name, [pin for name, pin in approved.items() if name in spec.tools])
    said = ", ".join(approved) or "nothing"
    click.echo(f"approved: {said}; the daemon takes them at its next start", err=True)


def _wanted(spec: McpSpec, offered: dict[str, Pin], name: str) -> Pin:
    server = spec.name
    if name not in spec.tools:
        raise InputError(f"{name} is not among the tools of [mcp.{server}] in box.toml. Add it there first.")
    if name not in offered:
        raise InputError(f"{server} offers no tool {name}. `box mcp review {server}` shows what there is.")
    from exec_daemon.mcp_servers.schema import problem_of

    if (problem := problem_of(offered[name].schema)) is not None:
        raise InputError(f"{name} cannot be approved, its schema is of no use: {problem}.")
    return offered[name]


def _agreed(spec: McpSpec, pin: Pin, before: Pin | None, *, yes: bool) -> bool:
    """Shown whole, then asked."""
    for line in _one(pin.to_json() | {"state": _state(spec, pin, before)}):
        click.echo(harmless(line), err=True)
    return yes or click.confirm(f"Approve {pin.tool}?", err=True)


def _spec(ctx: click.Context, server: str) -> tuple[McpSpec, Home]:
    settings = settings_of(ctx)
    found = next((spec for spec in specs(settings["mcp"]) if spec.name == server), None)
    if found is None:
        raise InputError(f"box.toml has no [mcp.{server}]. docs/mcp.md shows one.")
    return found, Home(settings.home)


def _offered(spec: McpSpec) -> dict[str, Pin]:
    if importlib.util.find_spec("mcp") is None:
        raise InputError("MCP is not installed here. Mend it: pip install 'inband[mcp]'")
    from exec_daemon.mcp_servers.link import connected, offered

    async def ask() -> dict[str, Pin]:
        async with connected(spec) as client:
            return await offered(client)

    try:
        with waiting(f"asking {spec.name}"):
            return asyncio.run(ask())
    except Exception as failed:  # noqa: BLE001 - whatever a server or its transport does
        raise FrontDoorError(f"the MCP server {spec.name} cannot be asked: {_reason(failed)}") from None


def _reason(failed: BaseException) -> str:
    """The innermost fault of a group says what happened."""
    while isinstance(failed, BaseExceptionGroup):
        failed = failed.exceptions[0]
    return str(failed) or type(failed).__name__


def _state(spec: McpSpec, pin: Pin, approved: Pin | None) -> str:
    if pin.tool not in spec.tools:
        return "not in box.toml"
    if approved is None:
        return "not approved"
    return "approved" if approved == pin else "CHANGED since it was approved"


def _lines(document: list[dict[str, Any]], gone: list[str]) -> Iterator[str]:
    for row in document:
        yield from _one(row)
    for name in gone:
        yield f"{name}: no longer offered"


def _one(row: dict[str, Any]) -> Iterator[str]:
    yield f"{row['tool']}: {row['state']}"
    yield f"  says of itself: {'read-only' if row['read_only'] else 'has side effects'}"
    yield from (f"  | {spelled(line)}" for line in row["description"].splitlines())
    yield f"  takes {json_text(row['schema'])}"
