"""`box doctor`: what is wrong, and how to mend it."""

from __future__ import annotations

import os
from collections.abc import Iterator

import click

from inband.cli.progress import waiting
from inband.cli.shared import json_option, settings_of, show
from inband.doctor import examine
from inband.finding import Finding, Grade

_COLOURS = {Grade.OK: "green", Grade.WARN: "yellow", Grade.FAIL: "red"}


@click.command()
@json_option
@click.pass_context
def doctor(ctx: click.Context, *, as_json: bool) -> int:
    """Check the installation and say what to do about each fault. Example: box doctor"""
    with waiting("looking"):
        found = list(examine(settings_of(ctx), os.environ))
    show({"findings": [one.to_json() for one in found]}, lambda: _lines(found), as_json=as_json)
    return int(any(one.grade is Grade.FAIL for one in found))


def _lines(found: list[Finding]) -> Iterator[str]:
    for one in found:
        yield click.style(f"{one.grade:<5}", fg=_COLOURS[one.grade]) + f"{one.subject:<12} {one.found}"
        if one.mend:
            yield f"{'':<17} mend: {one.mend}"
