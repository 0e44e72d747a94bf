"""Jobs that run elsewhere: made, stopped, and their events sent again that did not get through."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import click

from inband.cli.shared import connected, json_option, settings_of, show
from inband.errors import Exit
from messaging.sinks import Resent, Spool, request_cancel, transport
from messaging.sinks import resend as send_again
from messaging.sinks.variables import Variables

# What the tool's environment said of its one job.
_OF_ONE_JOB = frozenset({"BOX_JOB_ID", "RECIPE_JOB_ID", "BOX_SPOOL", "RECIPE_SPOOL"})


@click.command()
@click.argument("job_id", required=False, metavar="[ID]")
@json_option
@click.pass_context
def expect(ctx: click.Context, *, job_id: str | None, as_json: bool) -> None:
    """Make a job that runs elsewhere, and print the environment its program needs.

    \b
    Example:
      box job expect scrape-1 > scrape.env
      docker run --env-file scrape.env IMAGE
      box job watch scrape-1
    """
    with connected(ctx) as client:
        made = client.expect_job(job_id)
    environment = {
        "BOX_TRANSPORT": "callback",
        "BOX_JOB_ID": made["job_id"],
        "BOX_CALLBACK_URL": made["url"],
        "BOX_CALLBACK_SECRET": made["secret"],
        "BOX_CALLBACK_CA": str(settings_of(ctx).home / "ca.pem"),
    }
    show(
        made | {"environment": environment},
        lambda: [f"{k}={v}" for k, v in environment.items()],
        as_json=as_json,
    )


@click.command()
@click.argument("job_ids", nargs=-1, metavar="[ID]...")
@click.option("--spool", metavar="DIR", type=Path, help="Folder of the events (default: $BOX_SPOOL).")
@json_option
def resend(*, job_ids: tuple[str, ...], spool: Path | None, as_json: bool) -> int:
    """Send events that a tool could not deliver, in order, without doubling any.

    Where they go and how they are signed says the environment, as it did for the tool: BOX_TRANSPORT and
    its variables. Without an ID the events of all jobs are sent. Ends with 4 when some are still left.

    Example: box job resend --spool /var/spool/box
    """
    folder = spool or Variables(os.environ)["SPOOL"]
    if not folder:
        raise click.UsageError("name the folder: --spool DIR, or BOX_SPOOL")
    done = asyncio.run(_resend_all(Path(folder), job_ids))
    document = {
        job_id: {"sent": one.sent, "left": one.left, "problem": one.problem} for job_id, one in done.items()
    }
    lines = [
        f"{job_id}: {one.sent} sent, {one.left} left" + (f" ({one.problem})" if one.problem else "")
        for job_id, one in done.items()
    ]
    show({"jobs": document}, lambda: lines or ["nothing to send"], as_json=as_json)
    return Exit.UNREACHABLE if any(one.left for one in done.values()) else Exit.OK


async def _resend_all(folder: Path, job_ids: tuple[str, ...]) -> dict[str, Resent]:
    spool = Spool(folder)
    return {job_id: await _resend(spool, job_id) for job_id in job_ids or spool.jobs()}


async def _resend(spool: Spool, job_id: str) -> Resent:
    """With a sink of its own for each job: a subject and a path are the job's."""
    named = {name: value for name, value in os.environ.items() if name not in _OF_ONE_JOB}
    sink = transport({**named, "BOX_JOB_ID": job_id}).direct
    try:
        return await send_again(spool, job_id, sink)
    finally:
        await sink.close()


def cancel_over_nats(url: str, job_id: str, reason: str | None, *, as_json: bool) -> Exit:
    """Asks a tool to stop (M-65); 1 when its job has ended already, 4 when nobody listens."""
    answer = asyncio.run(request_cancel(url, job_id, reason))
    stops = answer.get("ok") is True
    show(dict(answer), lambda: [f"{job_id}: {'stops' if stops else 'has ended already'}"], as_json=as_json)
    return Exit.OK if stops else Exit.FAILED
