"""`box token`: bearer tokens: create, list, revoke."""

from __future__ import annotations

import re

import click

from inband.cli.shared import connected, json_option, show, table

_UNIT_S = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


class Lifetime(click.ParamType[int]):
    """`30d`, `12h`, `90m`: a number and a unit."""

    name = "lifetime"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Seconds."""
        found = re.fullmatch(r"([1-9][0-9]{0,5})([smhd])", str(value))
        if found is None:
            self.fail(f"{value!r} is no lifetime; write 30d, 12h or 90m", param, ctx)
        return int(found[1]) * _UNIT_S[found[2]]


@click.group()
def token() -> None:
    """Give and take identities."""


@token.command()
@click.argument("identity", metavar="KIND/NAME")
@click.option("--ttl", type=Lifetime(), default="30d", show_default=True, help="How long it is valid.")
@click.option("--scope", "scopes", multiple=True, metavar="OPS", help="Ops it is limited to, as globs.")
@json_option
@click.pass_context
def create(ctx: click.Context, /, *, identity: str, ttl: int, scopes: tuple[str, ...], as_json: bool) -> None:
    """Make a token for an identity; it is shown once and stored only as a hash.

    \b
    Examples:
      box token create agent/heron --ttl 7d
      box token create viewer/dashboard
      box token create agent/heron --scope 'box.*' --scope tools.list
    """
    with connected(ctx) as client:
        made = client.create_token(identity, ttl_s=ttl, scopes=scopes)
    show(made, lambda: [made["token"]], as_json=as_json)
    if not as_json:
        click.echo(f"box: token {made['id']} for {identity}; it is not shown again", err=True)


@token.command("list")
@json_option
@click.pass_context
def list_tokens(ctx: click.Context, *, as_json: bool) -> None:
    """List tokens, never their text. Example: box token list"""
    with connected(ctx) as client:
        found = client.tokens()
    keys = ("id", "identity", "created_at", "expires_at", "last_used_at", "revoked_at")
    rows = [(*(one.get(key) for key in keys), " ".join(one.get("scopes", ())) or None) for one in found]
    header = ("TOKEN", "IDENTITY", "CREATED", "EXPIRES", "LAST USED", "REVOKED", "SCOPES")
    show({"tokens": found}, lambda: table(rows, header), as_json=as_json)


@token.command()
@click.argument("token_id", metavar="ID")
@click.pass_context
def revoke(ctx: click.Context, *, token_id: str) -> None:
    """Make a token void at once. Example: box token revoke tok-3f2a…"""
    with connected(ctx) as client:
        client.revoke_token(token_id)
    click.echo(f"box: token {token_id} is revoked", err=True)
