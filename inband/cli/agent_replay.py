"""`box agent replay`: what a recorded stream comes to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import click

from harvester.adapters import ADAPTERS, AgentEvent, Ended, LineReader, Listener, conclude
from inband.cli.agent_run import adapter_option, exit_code_of_outcome
from inband.cli.agent_shown import Frames, as_line, outcome_lines
from inband.cli.shared import json_option, show
from inband.errors import InputError

_CHUNK_BYTES: Final = 1 << 20


@click.command()
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path, allow_dash=True))
@adapter_option
@click.option("--exit-code", default=0, show_default=True, help="What the agent's program ended with.")
@click.option("--events", is_flag=True, help="Its events as JSON Lines on stdout, the outcome last.")
@json_option
def replay(*, file: Path, adapter: str, exit_code: int, events: bool, as_json: bool) -> int:
    """Read a recorded stream (- for standard input) as `box agent run` would have; runs and posts nothing.

    Example: box agent replay run.jsonl --adapter claude --json
    """
    listener, frames = Listener(), Frames(adapter)
    for event in _events(file, adapter):
        listener.feed(event)
        if events or not as_json:
            click.echo(frames.line(event) if events else as_line(event), err=not events)
    outcome = conclude(ADAPTERS[adapter], listener.heard, Ended(exit_code=exit_code))
    if events:
        click.echo(frames.outcome(outcome.to_json()))
    else:
        show(outcome.to_json(), lambda: outcome_lines(outcome, {}), as_json=as_json)
    return exit_code_of_outcome(outcome)


def _events(file: Path, adapter: str) -> Iterator[AgentEvent]:
    read = ADAPTERS[adapter].read
    for line in _lines(file):
        yield from read(line)


def _lines(file: Path) -> Iterator[str]:
    """A piece at a time: a recording may be large."""
    reader = LineReader()
    try:
        with click.open_file(str(file), "rb") as stream:
            while chunk := stream.read(_CHUNK_BYTES):
                yield from reader.feed(chunk)
    except OSError as broken:
        raise InputError(f"{file}: cannot be read: {broken.strerror}") from None
    yield from reader.close()
