"""`box open`: the web page, signed in."""

from __future__ import annotations

import webbrowser

import click

from inband.cli.shared import connected, json_option, show


@click.command("open")
@click.option("--browser", is_flag=True, help="Open it in the browser of this machine.")
@json_option
@click.pass_context
def open_page(ctx: click.Context, *, browser: bool, as_json: bool) -> None:
    """Print a link that signs you in to the web page.

    It works once, within two minutes. The page's certificate is of the daemon's own authority: let the
    browser trust ca.pem of the state directory, or accept it once.

    \b
    Examples:
      box open
      box open --browser
    """
    with connected(ctx) as client:
        link = client.sign_in_link()
    show({"link": link}, lambda: [link], as_json=as_json)
    if browser and not webbrowser.open(link):
        click.echo("box: no browser was found; open the link yourself", err=True)
