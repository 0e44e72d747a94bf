"""`box approvals`: calls that wait for a person."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, Final

import click

from inband.cli.shared import connected, json_option, json_text, show, table
from inband.errors import InputError
from messaging import spelled

_STATES: Final = ("pending", "approved", "denied", "expired")
_FACTS: Final = (
    "id",
    "state",
    "op",
    "identity",
    "asker",
    "thread",
    "reply",
    "marked_by",
    "asked_at",
    "expires_at",
    "decided_by",
    "decided_at",
    "reason",
    "job_id",
    "digest",
)
# So much of a digest tells two apart that nobody made to look alike, and can still be typed.
_LEAST_DIGEST_CHARS: Final = 12


@click.group()
def approvals() -> None:
    """Look at calls that wait for a person, and decide."""


@approvals.command("list")
@click.option("--state", type=click.Choice(_STATES), default="pending", show_default=True)
@json_option
@click.pass_context
def list_approvals(ctx: click.Context, *, state: str, as_json: bool) -> None:
    """List them, the newest first. Example: box approvals list"""
    with connected(ctx) as client:
        found = client.approvals(state)
    rows = [(row["id"], row["op"], row["identity"], row["thread"], row["expires_at"]) for row in found]
    header = ("APPROVAL", "OP", "FOR", "THREAD", "EXPIRES")
    show({"approvals": found}, lambda: table(rows, header) if rows else [f"none {state}"], as_json=as_json)


@approvals.command("show")
@click.argument("approval_id", metavar="ID")
@json_option
@click.pass_context
def show_approval(ctx: click.Context, *, approval_id: str, as_json: bool) -> None:
    """Show one with all of its arguments. Example: box approvals show job-3f2a…"""
    with connected(ctx) as client:
        found = client.approval(approval_id)
    show(found, lambda: _whole(found), as_json=as_json)


def _whole(found: dict[str, Any]) -> Iterator[str]:
    """Nothing is left out or shortened, and what a terminal would hide is written as an escape."""
    for fact in _FACTS:
        yield f"{fact:<12}{spelled(str(found[fact])) if found[fact] is not None else '-'}"
    yield f"{'effects':<12}{'has side effects' if found['side_effecting'] else 'read-only'}"
    yield "arguments"
    yield from json_text(found["args"], indent=2).splitlines()


@approvals.command()
@click.argument("approval_id", metavar="ID")
@click.argument("digest", required=False)
@json_option
@click.pass_context
def approve(ctx: click.Context, *, approval_id: str, digest: str | None, as_json: bool) -> None:
    """Let a call run, once.

    DIGEST, or its first 12 characters, as `box approvals show` prints it: what is approved is what you
    looked at. On a terminal it may be left out: then the call is shown, and you are asked.

    \b
    Examples:
      box approvals approve job-3f2a…
      box approvals approve job-3f2a… 5f0c9b7d21aa
    """
    with connected(ctx) as client:
        found = client.approval(approval_id)
        _agree(found, digest)
        said = client.approve(approval_id, found["digest"])
    show(said, lambda: [f"{said['id']}: approved; its end: box job show {said['id']}"], as_json=as_json)


def _agree(found: dict[str, Any], digest: str | None) -> None:
    """Raises where the caller did not look at what waits there."""
    if digest is None and sys.stdin.isatty():
        for line in _whole(found):
            click.echo(line, err=True)
        click.confirm("Let it run?", abort=True, err=True)
    elif digest is None:
        raise InputError("approve needs the DIGEST that `box approvals show` prints")
    elif len(digest) < _LEAST_DIGEST_CHARS or not found["digest"].startswith(digest):
        raise InputError(f"{digest} is not the digest of {found['id']}; look again: box approvals show")


@approvals.command()
@click.argument("approval_id", metavar="ID")
@click.option("--reason", metavar="TEXT", help="Told to whoever asked.")
@json_option
@click.pass_context
def deny(ctx: click.Context, *, approval_id: str, reason: str | None, as_json: bool) -> None:
    """Keep a call from running. Example: box approvals deny job-3f2a… --reason 'not today'"""
    with connected(ctx) as client:
        said = client.deny(approval_id, reason)
    show(said, lambda: [f"{said['id']}: denied"], as_json=as_json)
