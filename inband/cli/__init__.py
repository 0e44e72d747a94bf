"""The `box` command: one file a command, loaded when it is asked for.

Results go to stdout, everything else to stderr. Exit codes are `inband.errors.Exit`. Nothing that can
go wrong shows a traceback: `main` is the one place where errors become words.
"""

from __future__ import annotations

import difflib
import importlib
import os
import signal
import sys
import traceback
from typing import Any, Final

import click

from inband import __version__
from inband.errors import Exit, FrontDoorError

# Where each command lives, in the order of the help page.
COMMANDS: Final = {
    "demo": "inband.cli.demo:demo",
    "up": "inband.cli.up:up",
    "harvest": "inband.cli.harvest:harvest",
    "call": "inband.cli.call:call",
    "read": "inband.cli.read:read",
    "open": "inband.cli.open:open_page",
    "ops": "inband.cli.ops:ops",
    "thread": "inband.cli.thread:thread",
    "job": "inband.cli.job:job",
    "timer": "inband.cli.timer:timer",
    "worker": "inband.cli.worker:worker",
    "order": "inband.cli.order:order",
    "artifact": "inband.cli.artifact:artifact",
    "agent": "inband.cli.agent:agent",
    "container": "inband.cli.container:container",
    "rpc": "inband.cli.rpc:rpc",
    "audit": "inband.cli.audit:audit",
    "token": "inband.cli.token:token",
    "cert": "inband.cli.cert:cert",
    "approvals": "inband.cli.approvals:approvals",
    "grant": "inband.cli.grant:grant",
    "why": "inband.cli.why:why",
    "wrap": "inband.cli.wrap:wrap",
    "mcp": "inband.cli.mcp:mcp",
    "service": "inband.cli.service:service",
    "backup": "inband.cli.backup:backup",
    "restore": "inband.cli.backup:restore",
    "config": "inband.cli.config:config",
    "doctor": "inband.cli.doctor:doctor",
    "completion": "inband.cli.completion:completion",
}


class LazyGroup(click.Group):
    """A group that imports a command only when it is used, so that `box --help` starts fast."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        """All commands, in the order of the table."""
        return list(COMMANDS)

    def get_command(self, _ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name."""
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name].partition(":")
        command: click.Command = getattr(importlib.import_module(module), attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does it, with the nearest command in place of one that does not exist."""
        near = [] if args[0] in COMMANDS else difflib.get_close_matches(args[0], COMMANDS, 1)
        if near and not ctx.resilient_parsing:
            ctx.fail(f"No such command {args[0]!r}. Did you mean {near[0]!r}?")
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """A reader that has left (`box … | head`) is no failure; what is still buffered has nowhere to go."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            return Exit.OK


@click.group(
    cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(__version__, prog_name="box")
@click.option("--home", metavar="DIR", help="State directory (default: $BOX_HOME or ~/.local/state/inband).")
@click.pass_context
def box(ctx: click.Context, *, home: str | None) -> None:
    """Run what agents ask for in their replies, safely, and post the results back.

    \b
    Start here:
      box demo                         see a reply become results in a thread
      box up                           run the daemon and the watcher
      box harvest reply.md --dry-run   what would this reply call?
    """
    ctx.obj = {"home": home}


def main(arguments: list[str] | None = None) -> None:
    """Entry point of the console script; always ends the process with one of the exit codes."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.exit(_written_out(run(sys.argv[1:] if arguments is None else arguments)))


def _written_out(code: int) -> int:
    """The exit code, once stdout is empty. What has no room is given up, or Python tries again at the end."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as full:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return code if code or isinstance(full, BrokenPipeError) else _explained(full)
    return code


def run(arguments: list[str]) -> int:
    """Run one command line and give its exit code; all failures become a line on stderr."""
    try:
        _check_text(arguments)
        outcome: Any = box.main(arguments, prog_name="box", standalone_mode=False)
        return int(outcome) if isinstance(outcome, int) else Exit.OK
    except click.ClickException as wrong:
        wrong.show()
        return wrong.exit_code
    except (click.Abort, KeyboardInterrupt):
        return _say("interrupted", Exit.INTERRUPTED)
    except FrontDoorError as known:
        return _say(str(known), known.exit_code)
    except Exception as fault:  # noqa: BLE001 the last line of defence: a person never sees a traceback
        return _explained(fault)


def _check_text(arguments: list[str]) -> None:
    """Python carries bytes that are no UTF-8 as lone surrogates, which nothing behind us takes."""
    for number, argument in enumerate(arguments, 1):
        if not argument.isprintable() and any("\ud800" <= character <= "\udfff" for character in argument):
            raise click.UsageError(f"argument {number} is not UTF-8 text")


def _explained(fault: Exception) -> int:
    """Errors of the layers below, by their own exit codes; anything else is a fault of ours."""
    if _by_interrupt(fault):
        return _say("interrupted", Exit.INTERRUPTED)
    from inband.cli.failures import exit_code_of

    code = exit_code_of(fault)
    if code is not None:
        return _say(str(fault), code)
    if os.environ.get("BOX_DEBUG"):
        traceback.print_exc()
    return _say(f"internal fault: {fault!r} (BOX_DEBUG=1 shows where; please report it)", Exit.FAILED)


def _by_interrupt(fault: BaseException | None) -> bool:
    """Python before 3.12 wraps a Ctrl-C that comes while a class is being made."""
    while fault is not None and not isinstance(fault, KeyboardInterrupt):
        fault = fault.__cause__
    return fault is not None


def _say(message: str, code: int) -> int:
    click.echo(f"box: {message}", err=True)
    return code
