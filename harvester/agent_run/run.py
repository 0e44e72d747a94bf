"""One run of an agent, from argv to outcome."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from harvester.adapters import (
    Adapter,
    AgentEvent,
    Ended,
    Failure,
    FailureKind,
    LineReader,
    Listener,
    Outcome,
    conclude,
    failure,
)
from harvester.adapters.events import Ready, SessionStarted
from harvester.agent_run.child import Child, Command
from harvester.agent_run.watchdog import Limits, Watchdog

# Once the agent has ended, a process that it left behind may hold its pipes: what they hold is read, and
# they are not waited for. The first for silence, the second for one that goes on writing.
_QUIET_S: Final = 0.2
_LAST_S: Final = 5.0


def run(
    adapter: Adapter,
    command: Command,
    *,
    limits: Limits | None = None,
    resumes: str | None = None,
    on_event: Callable[[AgentEvent], object] = lambda _event: None,
    on_output: Callable[[bytes], object] = lambda _chunk: None,
    clock: Callable[[], float] = time.monotonic,
) -> Outcome:
    """Run `command` to its end and say what it came to; a program that cannot start is an outcome too.

    `on_event` gets each event and `on_output` the raw stdout as they come; neither should block. `resumes`
    is the session that the agent was told to go on with: beginning another one ends the run (A-08).
    """
    once = _Run(
        adapter=adapter,
        limits=limits or Limits(),
        resumes=resumes,
        on_event=on_event,
        on_output=on_output,
        clock=clock,
    )
    try:
        child = Child(command, once.take, term_s=once.limits.term_s)
    except (OSError, ValueError) as fault:
        stopped = failure(f"{command.argv[0]} cannot be started: {fault}", FailureKind.STARTUP)
        return conclude(adapter, once.listener.heard, Ended(exit_code=None, stopped=stopped))
    with child:
        ended = once.through(child)
    return conclude(adapter, once.listener.heard, ended)


@dataclass(slots=True, kw_only=True)
class _Run:
    """What changes while an agent runs."""

    adapter: Adapter
    limits: Limits
    resumes: str | None
    on_event: Callable[[AgentEvent], object]
    on_output: Callable[[bytes], object]
    clock: Callable[[], float]
    listener: Listener = field(default_factory=Listener)
    lines: LineReader = field(default_factory=LineReader)
    stopped: Failure | None = None
    kill_at: float | None = None
    watchdog: Watchdog = field(init=False)

    def __post_init__(self) -> None:
        self.watchdog = Watchdog(self.limits, self.clock(), wants_ready=self.adapter.introduces_itself)

    def through(self, child: Child) -> Ended:
        """From the start of the child to its end."""
        while not child.has_ended:
            child.turn(self.limits.term_s if self.stopped else self.watchdog.wait_s(self.clock()))
            self._stop_if_due(child)
        self._drain(child)
        if self.stopped:
            child.signal(signal.SIGKILL)  # whatever it started and did not end
        self._hear(self.lines.close())
        return Ended(exit_code=child.reap(), stopped=self.stopped, stderr=child.errors)

    def _drain(self, child: Child) -> None:
        until, quiet_since = self.clock() + _LAST_S, self.clock()
        while child.pipes_are_open and self.clock() < until:
            if child.turn(_QUIET_S):
                quiet_since = self.clock()
            elif self.clock() - quiet_since >= _QUIET_S:
                return

    def _stop_if_due(self, child: Child) -> None:
        now = self.clock()
        if self.kill_at is not None:
            if now >= self.kill_at:
                child.signal(signal.SIGKILL)
            return
        self.stopped = self.stopped or self.watchdog.due(now)
        if self.stopped:
            child.signal(signal.SIGTERM)
            self.kill_at = now + self.limits.term_s

    def take(self, chunk: bytes) -> None:
        """What the child wrote to stdout."""
        self.on_output(chunk)
        self._hear(self.lines.feed(chunk))
        over = self.listener.turn_is_over
        self.watchdog.heard(self.clock(), ready=self.listener.heard.ready, turn_is_over=over)

    def _hear(self, lines: list[str]) -> None:
        for line in lines:
            for event in self.adapter.read(line):
                self.listener.feed(event)
                self.stopped = self.stopped or self._refused(event)
                self.on_event(event)

    def _refused(self, event: AgentEvent) -> Failure | None:
        """What ends a run at once: no introduction, or another session than the one to go on with."""
        if self.adapter.introduces_itself and not self.listener.heard.ready and not isinstance(event, Ready):
            return failure("its first line was not the event `ready`", FailureKind.ENVELOPE_REQUIRED)
        if isinstance(event, SessionStarted) and self.resumes not in (None, event.session):
            said = f"it was to go on with session {self.resumes} and began {event.session}"
            return failure(said, FailureKind.SESSION_LOST)
        return None
