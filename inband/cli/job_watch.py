"""`box job watch`: the reference consumer of job events, whatever they come over."""

from __future__ import annotations

import asyncio
import json
import os
import stat
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Final, TextIO

import click

from inband.cli.shared import connected
from inband.errors import Exit
from messaging import EventType, JobEvent, strip_terminal

Tell = Callable[[JobEvent], None]

# Fields of all types of event, in the order in which a person reads them.
_SHOWN: Final = ("code", "stage", "pct", "message", "op", "url", "result")


@click.command()
@click.argument("job_id", metavar="ID")
@click.option("--file", metavar="FILE", type=Path, help="Read the file that BOX_TRANSPORT=file appends to.")
@click.option("--nats", metavar="URL", help="Read the JetStream that BOX_TRANSPORT=nats publishes on.")
@click.option("--stdin", is_flag=True, help="Read what BOX_TRANSPORT=events writes.")
@click.option("--timeout", "timeout_s", type=float, metavar="S", help="Give up after so many seconds.")
@click.option("--json", "as_json", is_flag=True, help="One JSON document a line.")
@click.pass_context
def watch(
    ctx: click.Context,
    *,
    job_id: str,
    file: Path | None,
    nats: str | None,
    stdin: bool,
    timeout_s: float | None,
    as_json: bool,
) -> int:
    """Show the events of a job from its first on, until it has ended.

    Without an option they come from the daemon: its own jobs, and those that tell their events by callback.
    Ends with 0 when the job succeeded, 1 when it failed, 124 when it did not end in time.

    \b
    Examples:
      box job watch job-1fe80797e6a375209ab3
      tool | box job watch job-1 --stdin
    """
    if stdin and sys.stdin is None:
        raise click.UsageError("standard input is closed")
    if sum((file is not None, nats is not None, stdin)) > 1:
        raise click.UsageError("give one of --file, --nats and --stdin")
    tell = _Told(as_json=as_json)
    if file is None and nats is None and not stdin:
        _from_daemon(ctx, job_id, timeout_s, tell)
    else:
        asyncio.run(_from_source(_source(job_id, file, nats), job_id, timeout_s, tell))
    return tell.exit_code(job_id)


class _Told:
    """Prints events, and knows how the job ended and how many of them never came (M-55)."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self._end: JobEvent | None = None
        self._next = 0
        self._missing = 0

    def __call__(self, event: JobEvent) -> None:
        self._missing += event.seq - self._next
        self._next = event.seq + 1
        click.echo(event.encode().decode() if self._as_json else line_of(event))
        sys.stdout.flush()
        self._end = event if event.type.terminal else None

    def exit_code(self, job_id: str) -> Exit:
        if self._missing:
            click.echo(f"box: {self._missing} of the events of {job_id} never came", err=True)
        if self._end is None:
            click.echo(f"box: the events of {job_id} stopped before its end", err=True)
        succeeded = self._end is not None and self._end.type is EventType.SUCCEEDED
        return Exit.OK if succeeded else Exit.FAILED


def line_of(event: JobEvent) -> str:
    """An event for a person, in one line."""
    payload = dict(event.payload)
    if "result" in payload:
        payload["result"] = json.dumps(payload["result"], ensure_ascii=False)
    if "pct" in payload:
        payload["pct"] = f"{payload['pct']} %"
    told = [str(payload[name]) for name in _SHOWN if name in payload]
    return " ".join(strip_terminal(" ".join([event.ts, f"{event.type:<9}", *told])).split("\n"))


def _from_daemon(ctx: click.Context, job_id: str, timeout_s: float | None, tell: Tell) -> None:
    from harvester.client import follow_job
    from messaging.sources import JobTimedOut

    seen: list[JobEvent] = []
    with connected(ctx) as client:
        try:
            for event in follow_job(client, job_id, timeout_s=timeout_s):
                seen.append(event)
                tell(event)
        except TimeoutError:
            raise JobTimedOut(job_id, timeout_s or 0.0, tuple(seen)) from None


def _source(job_id: str, file: Path | None, nats: str | None) -> AsyncIterator[JobEvent]:
    from messaging.sources import file_events, nats_events

    if file is not None:
        return file_events(file)
    return _stdin_events() if nats is None else nats_events(nats, job_id)


async def _stdin_events() -> AsyncIterator[JobEvent]:
    from messaging.sources import pipe_events, whole_events

    if not _may_wait(sys.stdin):
        for event in whole_events(sys.stdin.buffer):
            yield event
        return
    reader = asyncio.StreamReader()
    protocol = asyncio.StreamReaderProtocol(reader)
    await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, sys.stdin)
    async for event in pipe_events(reader):
        yield event


def _may_wait(stream: TextIO) -> bool:
    """A pipe, a socket or a terminal. Files and /dev/null are no place to wait for more."""
    mode = os.fstat(stream.fileno()).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or stream.isatty()


async def _from_source(
    events: AsyncIterator[JobEvent], job_id: str, timeout_s: float | None, tell: Tell
) -> None:
    from messaging.sources import await_job

    await await_job(events, job_id, timeout_s=timeout_s, on_event=tell)
