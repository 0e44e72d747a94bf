"""`box config`: the settings in force, and whether they are right."""

from __future__ import annotations

import os
from collections.abc import Iterator

import click

from exec_daemon.operator_ops.check import faults, program_faults
from inband import gates, programs
from inband.cli.shared import json_option, settings_of, show, table
from inband.settings import Settings, unknown_variables
from inband.settings_table import BY_NAME

_SECRET = frozenset({"client.token"})


@click.group()
def config() -> None:
    """Look at the settings."""


@config.command("show")
@json_option
@click.pass_context
def show_settings(ctx: click.Context, *, as_json: bool) -> None:
    """Show each setting, its value and where it comes from. Example: box config show"""
    settings = settings_of(ctx)
    document = {
        "file": str(settings.file),
        "state": str(settings.home),
        "settings": {
            name: {"value": _shown(name, value.value), "origin": value.origin}
            for name, value in settings.values.items()
        },
    }
    show(document, lambda: _lines(settings), as_json=as_json)


def _shown(name: str, value: object) -> object:
    return "(set)" if name in _SECRET and value else value


def _lines(settings: Settings) -> Iterator[str]:
    state = "" if settings.file.exists() else "  (not there)"
    yield f"settings file    {settings.file}{state}"
    yield f"state directory  {settings.home}"
    yield ""
    rows = [
        (name, _shown(name, value.value), value.origin, BY_NAME[name].purpose)
        for name, value in settings.values.items()
    ]
    yield from table(rows, ("SETTING", "VALUE", "FROM", "FOR"))


@config.command()
@click.pass_context
def check(ctx: click.Context) -> int:
    """Check the settings file and the BOX_ variables. Example: box config check"""
    settings = settings_of(ctx)
    strangers = unknown_variables(os.environ)
    for name in strangers:
        click.echo(f"box: ${name} is no setting of ours", err=True)
    known = gates.specs(settings["gates"]).values()
    faulty = {
        "ops": [str(fault) for fault in faults(programs.ops(settings["ops"]))],
        "gates": [str(fault) for gate in known for fault in program_faults(gate)],
    }
    for section, found in faulty.items():
        for fault in found:
            click.echo(f"box: {settings.file}: `{section}`: {fault}", err=True)
    where = settings.file if settings.file.exists() else f"no file at {settings.file}; defaults"
    wrong = [what for what, found in (("variables", strangers), *faulty.items()) if found]
    said = f", some {' and '.join(wrong)} are not" if wrong else f" ({where})"
    click.echo(f"settings are right{said}")
    return 1 if wrong else 0
