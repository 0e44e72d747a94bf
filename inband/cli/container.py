"""`box container`: agents that talk through directories and run in containers."""

from __future__ import annotations

import signal
import threading
from pathlib import Path

import click

from exec_daemon.home import prepare
from exec_daemon.logs import WATCHER, logging_to
from harvester.container.groups import Group
from inband import containers
from inband.cli.shared import connected, json_option, settings_of, show, table
from inband.container_programs import Containers, default_allowlist
from inband.lifeline import end_with_parent

_FOLDER = click.Path(file_okay=False, path_type=Path)
_FILE = click.Path(dir_okay=False, path_type=Path)

data_option = click.option(
    "--data", type=_FOLDER, metavar="DIR", help="Where the directories lie (default: below the state)."
)


@click.group(short_help="Agents in containers that talk through directories.")
def container() -> None:
    """Groups of agents that talk through directories: what they write is run like any reply's directives."""


@container.command()
@click.argument("folder")
@click.option("--jid", required=True, metavar="ID", help="The chat that the group is, such as tg:123.")
@click.option("--name", metavar="TEXT", help="How the group is called (default: its folder).")
@click.option("--main", is_flag=True, help="It may write to all chats and change the tasks of all groups.")
@data_option
@json_option
@click.pass_context
def add(
    ctx: click.Context,
    *,
    folder: str,
    jid: str,
    name: str | None,
    main: bool,
    data: Path | None,
    as_json: bool,
) -> None:
    """Register a chat with its FOLDER and make its directories and its agent.

    Example: box container add family --jid tg:123
    """
    settings = settings_of(ctx)
    layout = containers.layout_of(settings, data)
    group = Group(jid=jid, folder=folder, name=name or folder, is_main=main)
    with connected(ctx) as client:
        made = containers.add_group(settings, layout, group, client)
    lines = [f"{made.folder}: agent {made.agent}, files in {layout.ipc(made.folder)}"]
    show(made.to_json() | {"agent": made.agent}, lambda: lines, as_json=as_json)


@container.command("list")
@json_option
@click.pass_context
def list_groups(ctx: click.Context, *, as_json: bool) -> None:
    """List the registered groups. Example: box container list"""
    with containers.ledger_of(settings_of(ctx)) as ledger:
        found = list(ledger.groups())
    rows = [(one.folder, one.jid, one.agent, "yes" if one.is_main else "no", one.name) for one in found]
    empty = ["no groups yet; `box container add family --jid tg:123` registers one"]
    document = {"groups": [one.to_json() | {"agent": one.agent} for one in found]}
    show(
        document,
        lambda: table(rows, ("FOLDER", "CHAT", "AGENT", "MAIN", "NAME")) if rows else empty,
        as_json=as_json,
    )


@container.command()
@click.argument("lane", metavar="FOLDER")
@json_option
@click.pass_context
def files(ctx: click.Context, *, lane: str, as_json: bool) -> None:
    """Show what became of each file that the group's agent wrote. Example: box container files family"""
    with containers.ledger_of(settings_of(ctx)) as ledger:
        found = ledger.outcomes(lane)
    rows = [(name, outcome or "under way", detail or "") for name, outcome, detail in found]
    document = {"files": [dict(zip(("name", "outcome", "detail"), row, strict=True)) for row in found]}
    empty = [f"no files of {lane} have been read yet"]
    show(document, lambda: table(rows, ("FILE", "OUTCOME", "WHY")) if rows else empty, as_json=as_json)


@container.command(context_settings={"allow_interspersed_args": False})
@data_option
@click.option(
    "--boxed", is_flag=True, help="Run ARGV by bubblewrap, with nothing else of this machine in sight."
)
@click.option("--network", is_flag=True, help="Let what is boxed use the network, to reach its model.")
@click.option(
    "--llm", type=_FILE, metavar="FILE", help="The model's endpoint as JSON; given over stdin only."
)
@click.option("--project", type=_FOLDER, metavar="DIR", help="Shown to the main group, without its .env.")
@click.option("--allowlist", type=_FILE, metavar="FILE", help="Which further folders may be mounted.")
@click.option("--parent", type=int, hidden=True)
@click.argument("argv", nargs=-1, metavar="[ARGV]...")
@click.pass_context
def serve(
    ctx: click.Context,
    *,
    data: Path | None,
    boxed: bool,
    network: bool,
    llm: Path | None,
    project: Path | None,
    allowlist: Path | None,
    parent: int | None,
    argv: tuple[str, ...],
) -> None:
    """Read what agents write, run it, and write back what is said to them, until Ctrl-C.

    With ARGV also start a container for each group in which something waits.

    \b
    Examples:
      box container serve --data /srv/nanoclaw/data
      box container serve --boxed --network --llm model.json python3 -m inband_agent
    """
    settings = settings_of(ctx)
    stop = threading.Event()
    if parent is not None:
        end_with_parent(parent)
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    how = Containers(
        argv=argv,
        boxed=boxed,
        network=network,
        project=project,
        allowlist=allowlist or default_allowlist(),
        llm=llm,
        say=_say,
    )
    home = prepare(settings.home)
    layout = containers.layout_of(settings, data)
    with logging_to(home.root / "containers.log", WATCHER, stderr=True):
        containers.serve(settings, layout, how, stop)


def _say(message: str) -> None:
    click.echo(f"box: {message}", err=True)
