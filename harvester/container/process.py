"""One container from its start to its end: input on stdin, frames on stdout, limits (T-11, T-15, T-84)."""

from __future__ import annotations

import json
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Final

from harvester.agent_run.child import Child, Command
from harvester.container.limits import ContainerClock, ContainerLimits, Due
from messaging.container import ContainerInput, ContainerOutput, Framed, FrameReader, Status, Unframed

# T-11.
_STDERR_CHARS: Final = 200
_LOOK_S: Final = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """What runs, and with what. `keep` are descriptors that it inherits; everything else is closed."""

    argv: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)
    folder: Path | None = None
    keep: Sequence[int] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """How it ended. `error` is None for a success; `reported`: did its frames name the follow-ups?"""

    error: str | None
    frames: int
    reported: bool
    exit_code: int | None = None


@dataclass(slots=True, kw_only=True)
class Container:
    """`on_output` gets each output, `close` asks the agent to end its session, `stop` ends it for good."""

    program: Program
    limits: ContainerLimits = field(default_factory=ContainerLimits)
    on_output: Callable[[ContainerOutput], None]
    close: Callable[[], None]
    warn: Callable[[str], None] = lambda _text: None
    stop: Event = field(default_factory=Event)
    clock: Callable[[], float] = time.monotonic
    _frames: FrameReader = field(default_factory=FrameReader)
    _reported: bool = False
    _failed: str | None = None

    def run(self, start: ContainerInput) -> Ran:
        """Never raises for what the container does; a program that cannot start is an error too."""
        stdin = json.dumps(start.to_json()).encode()
        command = Command(
            argv=self.program.argv,
            environment=self.program.environment,
            folder=self.program.folder,
            prompt=stdin,
            keep=tuple(self.program.keep),
        )
        clock = ContainerClock(self.limits, self.clock(), is_task=start.is_scheduled_task)
        try:
            child = Child(command, lambda chunk: self._take(chunk, clock), term_s=self.limits.term_s)
        except (OSError, ValueError) as broken:
            return Ran(error=f"{self.program.argv[0]} cannot be started: {broken}", frames=0, reported=False)
        with child:
            ended = self._through(child, clock)
            self._hear(self._frames.close(), clock)
            code = child.reap() if child.has_ended else None
            problem = self._problem(code, child, clock, ended=ended)
        return Ran(error=problem, frames=clock.frames, reported=self._reported, exit_code=code)

    def _through(self, child: Child, clock: ContainerClock) -> Due:
        """Until it ends or has to be ended."""
        while not child.has_ended:
            child.turn(_LOOK_S)
            due = Due.END if self.stop.is_set() else clock.due(self.clock())
            if due is Due.CLOSE:
                self.close()
            elif due is Due.END:
                child.signal(signal.SIGTERM)
                return due
        while child.pipes_are_open and child.turn(_LOOK_S):
            pass
        return Due.NOTHING

    def _take(self, chunk: bytes, clock: ContainerClock) -> None:
        clock.printed(len(chunk))
        self._hear(self._frames.feed(chunk), clock)

    def _hear(self, found: Sequence[Framed | Unframed], clock: ContainerClock) -> None:
        for one in found:
            if isinstance(one, Unframed):
                self.warn(one.problem)
                continue
            output = one.output
            clock.framed(output, self.clock())
            self._reported |= output.consumed_inputs is not None
            self._failed = output.error or "it failed" if output.status is Status.ERROR else None
            self.on_output(output)

    def _problem(self, code: int | None, child: Child, clock: ContainerClock, *, ended: Due) -> str | None:
        """T-11, T-84: a limit after some output is a success, since what was said has been said."""
        if self.stop.is_set():
            return "it was stopped"
        if clock.is_flood:
            return f"it printed over {self.limits.output_bytes:,} bytes without a frame"
        if ended is Due.END:
            return None if clock.frames else f"no frame within {self.limits.silent_s:g} s"
        if self._failed:
            return self._failed
        if code:
            return f"it ended with {code}: {child.errors[-_STDERR_CHARS:].strip()}"
        return None if clock.frames else "it ended without a frame"
