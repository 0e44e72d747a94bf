"""`inband-agent`: the command that a container runs."""

from __future__ import annotations

import argparse
import logging
import os
import secrets
import select
import sys
import time
from pathlib import Path
from typing import Final

from inband_agent.inbox import Inbox
from inband_agent.model import Model, ModelError, ScriptedModel
from inband_agent.session import Parts, run
from inband_agent.transcript import NoSessionError, Transcript
from messaging.container import (
    NANOCLAW,
    TALON,
    ContainerInput,
    ContainerOutput,
    FileNames,
    Status,
    WireError,
    framed,
)
from messaging.container.names import INPUT, PATHS
from messaging.ipc import Changes

# Each may be named by a variable too: INBAND_AGENT_IPC and so on.
_PLACES: Final = {
    "ipc": "files to and from the host",
    "state": "where sessions are kept",
    "group": "the group's folder",
}
_DIALECTS: Final = {"talon": TALON, "nanoclaw": NANOCLAW}
# A prompt with its pending follow-ups; a host that sends more has gone wrong.
_MOST_STDIN_BYTES: Final = 16 << 20
_NAMES: Final = FileNames(
    lambda: time.time_ns() // 1_000_000, lambda digits: secrets.token_hex(digits)[:digits]
)


def main(arguments: list[str] | None = None) -> None:
    """Entry point of the console script; ends the process with 0, or 1 behind an error frame."""
    asked = _parser().parse_args(arguments)
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="inband-agent: %(message)s")
    try:
        code = _run(asked)
    except BrokenPipeError:  # the host has died, and there is nobody to tell
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    except (WireError, ModelError, NoSessionError, OSError) as broken:
        _emit(asked, ContainerOutput(status=Status.ERROR, error=str(broken)))
        code = 1
    except KeyboardInterrupt:
        code = 130
    raise SystemExit(code)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="inband-agent",
        description="The agent inside a container: reads its start from stdin and frames its outputs.",
    )
    for place, meaning in _PLACES.items():
        default = os.environ.get(f"INBAND_AGENT_{place.upper()}", PATHS[place])
        parser.add_argument(
            f"--{place}", type=Path, default=Path(default), metavar="DIR", help=f"{meaning} (%(default)s)"
        )
    parser.add_argument("--script", type=Path, metavar="FILE", help="say what this file tells, ask no model")
    parser.add_argument(
        "--markers", choices=sorted(_DIALECTS), default="talon", help="whose frames (%(default)s)"
    )
    return parser


def _run(asked: argparse.Namespace) -> int:
    start = ContainerInput.from_text(_stdin())
    with Changes() as changes:
        parts = Parts(
            model=_model(start, asked),
            inbox=Inbox(asked.ipc / INPUT, changes, _host_is_gone),
            transcript=_transcript(start, asked.state / "sessions"),
            emit=lambda output: _emit(asked, output),
            folder=asked.group if asked.group.is_dir() else None,
            system=_system(start, asked.group),
        )
        return run(start, parts)


def _host_is_gone() -> bool:
    """A pipe whose reader has died says so; an agent that nobody hears must not take follow-ups."""
    poll = select.poll()
    poll.register(sys.stdout.fileno(), 0)
    return bool(poll.poll(0))


def _stdin() -> str:
    content = sys.stdin.buffer.read(_MOST_STDIN_BYTES + 1)
    if len(content) > _MOST_STDIN_BYTES:
        raise WireError(f"Failed to parse input: over {_MOST_STDIN_BYTES:,} bytes")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as wrong:
        raise WireError(f"Failed to parse input: {wrong}") from None


def _emit(asked: argparse.Namespace, output: ContainerOutput) -> None:
    sys.stdout.write(framed(output, _DIALECTS[asked.markers]))
    sys.stdout.flush()


def _model(start: ContainerInput, asked: argparse.Namespace) -> Model:
    if asked.script:
        return ScriptedModel.from_file(asked.script, asked.ipc, _NAMES)
    if start.llm is None:
        raise ModelError("there is no model: the input has no `llm`, and --script names no file")
    from inband_agent.openai import OpenAIModel

    return OpenAIModel(start.llm)


def _transcript(start: ContainerInput, folder: Path) -> Transcript:
    if start.session_id is not None:
        return Transcript.resume(start.session_id, folder, keep=not start.ephemeral)
    return Transcript.begin(None if start.ephemeral else folder, _NAMES)


def _system(start: ContainerInput, group: Path) -> str:
    """Who the agent is, where and when, and what its group's folder says."""
    now = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
    zone = f", time zone {start.timezone}" if start.timezone else ""
    said = f"You are {start.assistant_name or 'an agent'} in the chat {start.chat_jid}. It is {now}{zone}."
    try:
        return f"{said}\n\n{(group / 'CLAUDE.md').read_text(encoding='utf-8')}"
    except (OSError, UnicodeDecodeError):
        return said
