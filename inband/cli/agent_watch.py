"""The run of an agent from the command line: who looks on, what is recorded, and signals that end it."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

import click

from harvester.adapters import Adapter, AgentEvent, Outcome
from harvester.agent_run import Audience, Command, Limits, run
from inband.errors import InputError


def audience_at(stream: TextIO, lagged: Callable[[int, int], str]) -> Audience:
    """Who reads `stream`, for as long as somebody does."""

    def write(line: str) -> None:
        try:
            click.echo(line, file=stream)
        except OSError:
            # What is still buffered has nowhere to go, and Python would try again at its end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
            raise

    return Audience(write, lagged)


def watch(
    adapter: Adapter,
    command: Command,
    *,
    limits: Limits,
    resumes: str | None,
    record: Path | None,
    on_event: Callable[[AgentEvent], object],
) -> Outcome:
    """As `harvester.agent_run.run`, with its output kept in `record`; signals that end us end the agent."""
    with _ended_by_signals(), _recorded(record) as keep:
        return run(adapter, command, limits=limits, resumes=resumes, on_event=on_event, on_output=keep)


@contextmanager
def _recorded(file: Path | None) -> Iterator[Callable[[bytes], object]]:
    if file is None:
        yield lambda _chunk: None
        return
    try:
        stream = file.open("wb", buffering=0)
    except OSError as broken:
        raise InputError(f"{file}: cannot be written: {broken.strerror}") from None
    with stream:
        yield stream.write


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """TERM and HUP end the run as Ctrl-C does, so that the agent is ended with us."""
    before = {number: signal.signal(number, _interrupt) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


def _interrupt(_number: int, _frame: object) -> None:
    raise KeyboardInterrupt
