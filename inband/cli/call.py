"""`box call`: one op with its arguments."""

from __future__ import annotations

import json

import click

from inband.cli.failures import exit_code_of_result
from inband.cli.progress import waiting
from inband.cli.shared import connected, json_argument, json_option, show
from messaging import Call, CallRequest, Result


@click.command(short_help="Call one op with a JSON object of arguments.")
@click.argument("op")
@click.argument("arguments", required=False, metavar="[JSON|-]")
@click.option("--id", "call_id", metavar="ID", help="Call id: the same id with the same content runs once.")
@click.option("--thread", metavar="ID", help="Thread that the call belongs to.")
@click.option("--dry-run", is_flag=True, help="Validate and decide only; run nothing.")
@click.option("--op-digest", metavar="DIGEST", help="Call OP only if this is its digest (box ops OP).")
@json_option
@click.pass_context
def call(
    ctx: click.Context,
    *,
    op: str,
    arguments: str | None,
    call_id: str | None,
    thread: str | None,
    dry_run: bool,
    op_digest: str | None,
    as_json: bool,
) -> int:
    """Call OP with a JSON object of arguments (- reads it from standard input).

    \b
    Examples:
      box call tools.list
      box call box.exec '{"action": "disk"}'
      box call dm.send '{"to": "heron", "text": "done"}' --id note-1
    """
    asked = Call(op, json_argument(arguments, "the arguments"), call_id)
    with connected(ctx) as client, waiting(f"waiting for {op}"):
        result = client.call(CallRequest(call=asked, thread=thread, dry_run=dry_run, op_digest=op_digest))
    show(result.to_json(), lambda: lines_of(result), as_json=as_json, failed=not result.ok)
    return int(exit_code_of_result(result))


def lines_of(result: Result) -> list[str]:
    """A result for a person: the data, or the error with its hint."""
    if result.error is None:
        return [json.dumps(result.data, ensure_ascii=False, indent=2)]
    again = " (may be tried again)" if result.error.retryable else ""
    return [f"{result.op}: {result.error.code}{again}", result.error.message]
