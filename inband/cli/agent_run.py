"""`box agent run`: run an agent's command line, watch it, and harvest what it finally says."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import click

from harvester.adapters import ADAPTERS, AgentEvent, FailureKind, Outcome, Status
from harvester.agent_run import Command, Limits
from inband.cli.agent_delivery import deliver
from inband.cli.agent_shown import Frames, as_line, lagged_line, outcome_lines
from inband.cli.agent_watch import audience_at, watch
from inband.cli.failures import exit_code_of_result
from inband.cli.shared import connected, json_option, read_text, show
from inband.errors import Exit, InputError

# Our own credentials: an agent whose only channel is text gets no other one by inheriting it.
_OURS: Final = frozenset({"BOX_TOKEN", "BOX_TOKEN_FILE"})
_MOST_PROMPT_BYTES: Final = 16 << 20
_LIMITS: Final = Limits()
_EXITS: Final = {
    FailureKind.STALLED: Exit.TIMED_OUT,
    FailureKind.TIMED_OUT: Exit.TIMED_OUT,
    FailureKind.CANCELLED: Exit.INTERRUPTED,
}

adapter_option = click.option(
    "--adapter",
    metavar="NAME",
    type=click.Choice(list(ADAPTERS)),
    default="envelope",
    show_default=True,
    help=f"What reads its output: {', '.join(ADAPTERS)}.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The command line of `box agent run`."""

    adapter: str
    argv: tuple[str, ...]
    thread: str | None
    agent: str | None
    prompt_file: str | None
    resume: str | None
    folder: Path | None
    stall_s: float
    timeout_s: float
    record: Path | None
    events: bool
    as_json: bool


# What stands behind the program's name is the program's, with or without `--` before it.
@click.command("run", context_settings={"allow_interspersed_args": False})
@adapter_option
@click.option(
    "--thread", metavar="ID", help="Post its final words there as the agent's reply, and harvest it."
)
@click.option("--agent", metavar="NAME", help="Who it is (default: the thread's agent).")
@click.option("--prompt-file", metavar="FILE", help="Goes to its standard input, where ps does not show it.")
@click.option("--resume", metavar="SESSION", help="Go on with this session of the CLI.")
@click.option(
    "--folder",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Where it works.",
)
@click.option(
    "--stall", "stall_s", default=_LIMITS.stall_s, show_default=True, help="Seconds of silence that end it."
)
@click.option(
    "--timeout", "timeout_s", default=_LIMITS.wall_s, show_default=True, help="Seconds it may take in all."
)
@click.option(
    "--record",
    metavar="FILE",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Keep its output for replay.",
)
@click.option("--events", is_flag=True, help="Its events as JSON Lines on stdout, the outcome last.")
@json_option
@click.argument("argv", nargs=-1, required=True, metavar="[--] ARGV...")
@click.pass_context
def run_agent(ctx: click.Context, /, **given: Any) -> int:
    """Run an agent's command line, watch it, and say what it came to.

    What it does is shown on stderr, its final words and the outcome on stdout. With --thread the final
    words of a run that succeeded are posted as the agent's reply, and their directives run, once.
    What a registered agent used is counted, and shown by `box read usage`.

    \b
    Examples:
      box agent run --adapter claude -- claude -p --verbose --output-format stream-json "check the disk"
      box agent run --adapter codex --thread ops --prompt-file task.md -- codex exec --json -
    """
    asked = Asked(**given)
    command = _command(asked)
    agent = _who(ctx, asked)
    with _shown(asked, Frames(agent or asked.adapter)) as shown:
        outcome = _watched(asked, command, shown.event)
        delivered: dict[str, Any] = {}
        codes = [exit_code_of_outcome(outcome)]
        try:
            if agent:
                done, delivered = deliver(
                    ctx, outcome, adapter=asked.adapter, agent=agent, thread=asked.thread
                )
                codes += map(exit_code_of_result, done.results if done else ())
        finally:  # hours of work are shown even if the daemon has gone away meanwhile
            shown.outcome(outcome, delivered)
    return int(max(codes))


@dataclass(frozen=True, slots=True)
class _Shown:
    """How this run is shown: to a person, as one document, or as events."""

    event: Callable[[AgentEvent], object]
    outcome: Callable[[Outcome, dict[str, Any]], object]


@contextmanager
def _shown(asked: Asked, frames: Frames) -> Iterator[_Shown]:
    def end(outcome: Outcome, delivered: dict[str, Any]) -> None:
        document = outcome.to_json() | delivered
        show(document, lambda: outcome_lines(outcome, delivered), as_json=asked.as_json)

    if asked.events:
        with audience_at(sys.stdout, frames.lagged) as audience:
            yield _Shown(
                lambda event: audience.show(frames.line(event)),
                lambda outcome, delivered: audience.tell(frames.outcome(outcome.to_json() | delivered)),
            )
    elif asked.as_json:
        yield _Shown(lambda _event: None, end)
    else:
        with audience_at(sys.stderr, lagged_line) as audience:
            yield _Shown(lambda event: audience.show(as_line(event)), end)


def _command(asked: Asked) -> Command:
    argv = list(asked.argv)
    if asked.resume is not None:
        try:
            argv = ADAPTERS[asked.adapter].resumed(argv, asked.resume)
        except ValueError as wrong:
            raise InputError(str(wrong)) from None
    prompt = read_text(asked.prompt_file, _MOST_PROMPT_BYTES) if asked.prompt_file else ""
    environment = {name: value for name, value in os.environ.items() if name not in _OURS}
    return Command(argv=argv, environment=environment, folder=asked.folder, prompt=prompt.encode())


def _who(ctx: click.Context, asked: Asked) -> str | None:
    """Whose run it is. Asked before the run: what the daemon does not know is known at once."""
    if asked.thread is None and asked.agent is None:
        return None
    with connected(ctx, "harvester") as client:
        client.ready()
        agent = asked.agent or (client.thread(asked.thread).agent if asked.thread else None)
    if agent is None:
        raise InputError(f"thread {asked.thread!r} has no agent; say who it is with --agent NAME")
    return agent


def _watched(asked: Asked, command: Command, on_event: Callable[[AgentEvent], object]) -> Outcome:
    return watch(
        ADAPTERS[asked.adapter],
        command,
        limits=Limits(stall_s=asked.stall_s, wall_s=asked.timeout_s),
        resumes=asked.resume,
        record=asked.record,
        on_event=on_event,
    )


def exit_code_of_outcome(outcome: Outcome) -> Exit:
    """An agent that said nothing has not done what it was run for, whatever its program says."""
    if outcome.status is Status.SUCCESS:
        return Exit.OK
    return _EXITS.get(outcome.failure.kind, Exit.FAILED) if outcome.failure else Exit.FAILED
