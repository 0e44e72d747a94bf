"""`box backup` and `box restore`: the state as one file, and back, on a running system."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from inband.cli.progress import counting
from inband.cli.shared import json_option, settings_of, show
from inband.errors import InputError


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@click.option("--force", is_flag=True, help="Replace FILE if it is there.")
@json_option
@click.pass_context
def backup(ctx: click.Context, *, file: Path, force: bool, as_json: bool) -> None:
    """Write the whole state into FILE; the daemon may run.

    That is the store, keys, tokens and artifacts. Who has the file is the operator: it holds the keys. It is
    made for its owner only (0600).

    \b
    Examples:
      box backup inband-2026-12-01.tar.gz
    """
    from exec_daemon.backup.take import take
    from exec_daemon.home import Home

    if file.exists() and not force:
        raise InputError(f"{file} is there already. Choose another name, or use --force.")
    with counting("backing up") as step:
        manifest = take(Home(settings_of(ctx).home), file, step=step)
    length = file.stat().st_size
    said = f"{file}: {len(manifest.members)} files, {manifest.total_bytes:,} bytes, {length:,} packed"
    show(_document(file, manifest), lambda: [said], as_json=as_json)


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
@click.pass_context
def restore(ctx: click.Context, *, file: Path, yes: bool, as_json: bool) -> None:
    """Put back the state that FILE holds.

    The present state is kept beside it, and all of FILE is checked first. A daemon that runs is stopped;
    `box up` or the service starts it again on what was put back.

    \b
    Examples:
      box restore inband-2026-12-01.tar.gz
    """
    from exec_daemon.backup.put_back import put_back
    from exec_daemon.home import Home

    home = Home(settings_of(ctx).home)
    if not yes and home.database.exists():
        _ask(home.root)
    with counting("putting back") as step:
        done = put_back(home, file, step=step)
    manifest, before = done.manifest, done.before
    lines = [
        f"put back: {len(manifest.members)} files of {manifest.created_at}, version {manifest.version}",
        f"what was there before is in {before}; delete it when all is well",
    ]
    if done.revoked:
        lines.insert(1, f"{done.revoked} tokens and certificates stay revoked, as they were since")
    more = {"before": str(before), "revoked": done.revoked}
    show(_document(file, manifest) | more, lambda: lines, as_json=as_json)


def _ask(root: Path) -> None:
    if not sys.stdin.isatty():
        raise InputError(f"{root} holds a state. Say --yes to put the backup in its place.")
    click.confirm(f"Put the backup in place of the state in {root}?", abort=True)


def _document(file: Path, manifest: Any) -> dict[str, Any]:
    return {
        "file": str(file),
        "created_at": manifest.created_at,
        "version": manifest.version,
        "files": len(manifest.members),
        "bytes": manifest.total_bytes,
    }
