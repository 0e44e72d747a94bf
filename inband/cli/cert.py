"""`box cert`: client certificates: issue, list, renew, revoke."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from inband.cert_files import FreshPair, new_pair, renewed, request_of, write_pair
from inband.certifying import certifying
from inband.cli.shared import json_option, settings_of, show, table
from inband.cli.token import Lifetime

_TTL = click.option("--ttl", type=Lifetime(), default="90d", show_default=True, help="How long it is valid.")


@click.group()
def cert() -> None:
    """Give and take client certificates; each names one identity.

    Keys are made here and stay here: the daemon gets a request to sign. While no daemon runs on this state
    directory, its authority signs all the same.
    """


@cert.command()
@click.argument("identity", metavar="KIND/NAME")
@_TTL
@click.option(
    "--out", type=click.Path(file_okay=False, path_type=Path), default=".", help="Folder to write to."
)
@click.option(
    "--csr", type=click.Path(dir_okay=False, path_type=Path), help="Sign this request; its key is elsewhere."
)
@json_option
@click.pass_context
def issue(
    ctx: click.Context, /, *, identity: str, ttl: int, out: Path, csr: Path | None, as_json: bool
) -> None:
    """Make a key and a certificate for an identity: KIND-NAME.pem and KIND-NAME.key (0600).

    \b
    Examples:
      box cert issue agent/heron --ttl 30d
      box cert issue operator/ada --out ~/.config/inband
      box cert issue agent/heron --csr heron.csr
    """
    pair = FreshPair(b"", request_of(csr)) if csr else new_pair()
    with certifying(settings_of(ctx)) as authority:
        made = authority.issue(identity, pair.request, ttl, None)
    files = write_pair(out, identity.replace("/", "-"), pair.key, made["certificate"])
    show(made | {"files": list(map(str, files))}, lambda: map(str, files), as_json=as_json)
    if not as_json:
        click.echo(f"box: {made['serial']} for {identity}, valid until {made['expires_at']}", err=True)


@cert.command("list")
@json_option
@click.pass_context
def list_certificates(ctx: click.Context, /, *, as_json: bool) -> None:
    """List the certificates that were issued. Example: box cert list"""
    with certifying(settings_of(ctx)) as authority:
        found = authority.certificates()
    keys = ("serial", "identity", "issued_at", "expires_at", "revoked_at")
    rows = [tuple(one.get(key) for key in keys) for one in found]
    header = ("SERIAL", "IDENTITY", "ISSUED", "EXPIRES", "REVOKED")
    show({"certificates": found}, lambda: table(rows, header), as_json=as_json)


@cert.command()
@click.argument("which", metavar="SERIAL|KIND/NAME")
@json_option
@click.pass_context
def revoke(ctx: click.Context, /, *, which: str, as_json: bool) -> None:
    """Take a certificate back, or all of an identity; open connections of it end.

    \b
    Examples:
      box cert revoke 3f2a9c…
      box cert revoke agent/heron
    """
    with certifying(settings_of(ctx)) as authority:
        gone = [authority.revoke(serial) for serial in authority.meant(which)]
    show({"revoked": gone}, lambda: map(_line, gone), as_json=as_json)


@cert.command()
@click.argument("file", type=click.Path(dir_okay=False, path_type=Path), metavar="CERTIFICATE.pem")
@_TTL
@json_option
@click.pass_context
def renew(ctx: click.Context, /, *, file: Path, ttl: int, as_json: bool) -> None:
    """Replace a certificate and its key by new ones for the same identity.

    The one before stays valid until it expires, so that whoever has it open can finish.

    \b
    Example:
      box cert renew agent-heron.pem
    """
    identity, before = renewed(file)
    pair = new_pair()
    with certifying(settings_of(ctx)) as authority:
        made = authority.issue(identity, pair.request, ttl, before)
    files = write_pair(file.parent, file.stem, pair.key, made["certificate"], replace=True)
    show(made | {"files": list(map(str, files))}, lambda: map(str, files), as_json=as_json)
    if not as_json:
        click.echo(f"box: {made['serial']} for {identity}, valid until {made['expires_at']}", err=True)


def _line(one: dict[str, Any]) -> str:
    return f"{one['serial']}  {one['identity']}  revoked {one['revoked_at']}"
