"""When to stop waiting for an agent: pure, told the time and what was heard (A-06, J-27)."""

from __future__ import annotations

from dataclasses import dataclass

from harvester.adapters import Failure, FailureKind, failure


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How long an agent may take, in seconds."""

    # A model that thinks hard is silent for minutes; nobody has seen ten.
    stall_s: float = 600.0
    # A working day's half: longer tasks are better cut up, and a CLI that babbles for ever never stalls.
    wall_s: float = 4 * 3600.0
    # Some CLIs hang after their last result; by then they have written their files.
    linger_s: float = 10.0
    # J-27: a program that speaks the envelope says so before it does anything else.
    ready_s: float = 10.0
    # From TERM to KILL: enough to write a session file.
    term_s: float = 5.0


class Watchdog:
    """Tell it what happens, ask it what is due. Times are seconds of one monotonic clock."""

    def __init__(self, limits: Limits, now: float, *, wants_ready: bool) -> None:
        self._limits = limits
        self._started = self._heard = now
        self._over_since: float | None = None
        self._wants_ready = wants_ready

    def heard(self, now: float, *, ready: bool, turn_is_over: bool) -> None:
        """The agent wrote something."""
        self._heard = now
        self._wants_ready = self._wants_ready and not ready
        if not turn_is_over:
            self._over_since = None
        elif self._over_since is None:
            self._over_since = now

    def due(self, now: float) -> Failure | None:
        """Why to stop the agent now, or None."""
        return next((failure(text, kind) for at, kind, text in self._deadlines() if now >= at), None)

    def wait_s(self, now: float) -> float:
        """How long nothing can be due."""
        return max(0.0, min(at for at, _, _ in self._deadlines()) - now)

    def _deadlines(self) -> list[tuple[float, FailureKind, str]]:
        limits = self._limits
        found = [
            (self._started + limits.wall_s, FailureKind.TIMED_OUT, f"not done after {limits.wall_s:g} s"),
            (self._heard + limits.stall_s, FailureKind.STALLED, f"said nothing for {limits.stall_s:g} s"),
        ]
        if self._over_since is not None:
            text = f"still ran {limits.linger_s:g} s after its last turn"
            found.append((self._over_since + limits.linger_s, FailureKind.STALLED, text))
        if self._wants_ready:
            text = f"no `ready` within {limits.ready_s:g} s"
            found.append((self._started + limits.ready_s, FailureKind.ENVELOPE_REQUIRED, text))
        return found
