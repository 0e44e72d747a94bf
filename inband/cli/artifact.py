"""`box artifact`: content that jobs have kept."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from inband.cli.progress import waiting
from inband.cli.shared import connected
from inband.errors import InputError


@click.group(short_help="Look at content that jobs have kept.")
def artifact() -> None:
    """Content that jobs have kept: large results, readings that were cut, files."""


@artifact.command()
@click.argument("sha256")
@click.option("--output", "-o", type=click.Path(path_type=Path), help="File to write; it must not exist yet.")
@click.pass_context
def get(ctx: click.Context, *, sha256: str, output: Path | None) -> None:
    """Fetch the artifact SHA256, compare it with its hash, and write it to standard output or a file.

    \b
    Example:
      box artifact get 6d9f… -o report.html
    """
    if output is None and sys.stdout.isatty():
        raise InputError("what an artifact holds may do anything to a terminal; name a file with --output")
    with connected(ctx) as client, waiting(f"fetching {sha256[:16]}"):
        content = client.artifact(sha256)
    if output is None:
        sys.stdout.buffer.write(content)
    else:
        _write(output, content)


def _write(path: Path, content: bytes) -> None:
    try:
        with path.open("xb") as file:
            file.write(content)
    except OSError as fault:
        raise InputError(f"{path}: cannot be written: {fault.strerror}") from None
