"""`box read`: one of the 27 looks at the machine."""

from __future__ import annotations

from collections.abc import Iterator

import click

from exec_daemon.box.table import lines_of_reading
from inband.cli.call import lines_of
from inband.cli.failures import exit_code_of_result
from inband.cli.progress import waiting
from inband.cli.shared import connected, json_option, show
from messaging import Call, CallRequest, Result
from patterns import vocabulary


def _complete(_ctx: click.Context, _parameter: click.Parameter, incomplete: str) -> list[str]:
    return [name for name in vocabulary().box_actions if name.startswith(incomplete)]


@click.command(short_help="Look at the machine: one of the 27 reads.")
@click.argument("action", shell_complete=_complete)
@click.argument("argument", required=False)
@json_option
@click.pass_context
def read(ctx: click.Context, *, action: str, argument: str | None, as_json: bool) -> int:
    """Look at the machine: ACTION is one of the 27 reads, some take one argument.

    \b
    Examples:
      box read disk
      box read logs nginx
      box read processes --json
    """
    args = {"action": action} | ({} if argument is None else {"arg": argument})
    with connected(ctx) as client, waiting(f"reading {action}"):
        result = client.call(CallRequest(call=Call("box.exec", args)))
    show(result.to_json(), lambda: _lines(result), as_json=as_json, failed=not result.ok)
    return int(exit_code_of_result(result))


def _lines(result: Result) -> Iterator[str]:
    yield from lines_of_reading(result.data) if result.ok else lines_of(result)
