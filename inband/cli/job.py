"""`box job`: executions of calls, and jobs that run elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import click

from inband.cli.job_callback import cancel_over_nats, expect, resend
from inband.cli.job_watch import watch
from inband.cli.shared import connected, json_option, show, table
from inband.errors import Exit
from messaging import Job, JobState


@click.group()
def job() -> None:
    """Look at jobs and cancel them."""


for command in (watch, expect, resend):
    job.add_command(command)


@job.command("list")
@click.option(
    "--state", type=click.Choice([str(state) for state in JobState]), help="Only jobs in this state."
)
@click.option("--limit", default=50, show_default=True, help="At most this many, the newest first.")
@json_option
@click.pass_context
def list_jobs(ctx: click.Context, *, state: str | None, limit: int, as_json: bool) -> None:
    """List jobs, the newest first. Example: box job list --state failed"""
    with connected(ctx) as client:
        found = client.jobs(state=state, limit=limit)
    rows = [
        (one.id, one.op, one.state, _took(one), one.identity, one.thread, one.created_at) for one in found
    ]
    header = ("JOB", "OP", "STATE", "MS", "FOR", "THREAD", "STARTED")
    document = {"jobs": [one.to_json() for one in found]}
    show(document, lambda: table(rows, header) if rows else ["no jobs"], as_json=as_json)


def _took(one: Job) -> str | None:
    return None if one.duration_ms is None else f"{one.duration_ms:.1f}"


@job.command("show")
@click.argument("job_id", metavar="ID")
@json_option
@click.pass_context
def show_job(ctx: click.Context, *, job_id: str, as_json: bool) -> None:
    """Show a job with its events. Example: box job show job-3f2a…"""
    with connected(ctx) as client:
        found, events = client.job(job_id), client.job_events(job_id)
    show(found.to_json() | {"events": events}, lambda: _one(found, events), as_json=as_json)


def _one(found: Job, events: list[dict[str, Any]]) -> Iterator[str]:
    fields = found.to_json()
    for key in ("id", "op", "state", "identity", "thread", "reply", "call_id", "created_at", "ended_at"):
        yield f"{key:<12}{fields[key] if fields[key] is not None else '-'}"
    yield f"{'arguments':<12}{json.dumps(fields['args'], ensure_ascii=False)}"
    outcome = found.error if found.error is not None else found.result
    yield f"{'outcome':<12}{json.dumps(outcome, ensure_ascii=False, indent=2)}"
    yield ""
    yield from table([(one["seq"], one["ts"], one["type"]) for one in events], ("EVENT", "AT", "WHAT"))


@job.command()
@click.argument("job_id", metavar="ID")
@click.option("--nats", metavar="URL", help="Ask a tool that tells its events over NATS to stop.")
@click.option("--reason", metavar="TEXT", help="With --nats: what the job will say it was cancelled for.")
@json_option
@click.pass_context
def cancel(ctx: click.Context, *, job_id: str, nats: str | None, reason: str | None, as_json: bool) -> int:
    """Cancel a running job. Example: box job cancel job-3f2a…"""
    if nats is not None:
        return cancel_over_nats(nats, job_id, reason, as_json=as_json)
    with connected(ctx) as client:
        found = client.cancel(job_id)
    show(found.to_json(), lambda: [f"{found.id}: {found.state}"], as_json=as_json)
    return Exit.OK
