"""`box audit`: who did what, and whether the record of it is as it was written."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import click

from exec_daemon.audit_on_disk import AuditOnDisk, audit_on_disk
from exec_daemon.store import StoreError
from exec_daemon.store.audit_chain import noted_ends
from harvester import DaemonClient
from harvester.errors import Unavailable
from inband.cli.progress import waiting
from inband.cli.shared import connected, json_option, settings_of, show, table
from inband.errors import Exit, InputError, NotStartedError

file_option = click.option(
    "--file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Read this store itself, say a backup; without it the daemon is asked, or its store if it is down.",
)


class Audit(Protocol):
    """Where the audit is read from; both give what the API gives."""

    def lines(self, limit: int) -> list[dict[str, Any]]: ...

    def check(self, noted: str) -> dict[str, Any]: ...


class _Asked:
    def __init__(self, client: DaemonClient) -> None:
        self._client = client

    def lines(self, limit: int) -> list[dict[str, Any]]:
        return self._client.audit(limit=limit)

    def check(self, noted: str) -> dict[str, Any]:
        return self._client.check_audit(noted)


class _Read:
    def __init__(self, audit: AuditOnDisk) -> None:
        self._audit = audit

    def lines(self, limit: int) -> list[dict[str, Any]]:
        return [line.to_json() for line in self._audit.lines(limit)]

    def check(self, noted: str) -> dict[str, Any]:
        return self._audit.check(noted_ends(noted) if noted else {}).to_json()


@contextmanager
def _source(ctx: click.Context, file: Path | None) -> Iterator[Audit]:
    """The daemon; its store where it does not run, or the store that was named."""
    if file is None:
        try:
            with connected(ctx) as client:
                client.health()
                yield _Asked(client)
                return
        except (Unavailable, NotStartedError):
            file = settings_of(ctx).home / "store.db"
            if not file.exists():
                raise
            click.echo(f"box: the daemon does not answer; reading {file}", err=True)
    try:
        with audit_on_disk(file) as found:
            yield _Read(found)
    except StoreError as fault:
        raise InputError(str(fault)) from None


@click.group()
def audit() -> None:
    """Who did what, in a chain that shows when it was changed."""


@audit.command("list")
@click.option(
    "--limit", type=click.IntRange(1, 500), default=50, show_default=True, help="At most this many."
)
@file_option
@json_option
@click.pass_context
def list_lines(ctx: click.Context, *, limit: int, file: Path | None, as_json: bool) -> None:
    """List what was executed, the newest first. Example: box audit list --limit 20"""
    with _source(ctx, file) as found:
        lines = found.lines(limit)
    keys = ("seq", "at", "identity", "asked_by", "op", "outcome", "duration_ms", "call_id")
    header = ("LINE", "AT", "FOR", "ASKED BY", "OP", "OUTCOME", "MS", "CALL")
    rows = [tuple(line.get(key) for key in keys) for line in lines]
    show({"lines": lines}, lambda: table(rows, header) if rows else ["no lines"], as_json=as_json)


@audit.command(short_help="Name the first line that is not as it was written.")
@click.option(
    "--noted", default="", metavar="NUMBER:HASH", help="Ends that were noted earlier, with commas between."
)
@file_option
@json_option
@click.pass_context
def verify(ctx: click.Context, *, noted: str, file: Path | None, as_json: bool) -> int:
    """Go along the whole audit and name the first line that is not as it was written.

    Whoever can write the store can write the whole chain anew. Note the end that is printed somewhere else;
    with --noted it has to be in the chain still.

    \b
    Examples:
      box audit verify
      box audit verify --noted 1042:9f2c… --file backup/store.db
    """
    try:
        noted_ends(noted) if noted else {}
    except ValueError as wrong:
        raise click.BadParameter(str(wrong), ctx, param_hint="--noted") from None
    with _source(ctx, file) as found, waiting("going along the audit"):
        report = found.check(noted)
    show(report, lambda: _in_words(report), as_json=as_json, failed=not report["ok"])
    return Exit.OK if report["ok"] else Exit.FAILED


def _in_words(report: dict[str, Any]) -> Iterable[str]:
    if report["broken"]:
        return [
            f"box: the audit is broken: {report['broken']['problem']}. {report['lines']} lines are whole."
        ]
    return [
        f"{report['lines']} lines, all as they were written; the end is {report['last']}:{report['hash']}"
    ]
