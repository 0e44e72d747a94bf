"""When a container is asked to close, and when it is ended (T-84): pure, told the time and what was heard."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from messaging.container import ContainerOutput


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerLimits:
    """In seconds and bytes."""

    # A person who comes back within half an hour finds the agent still there.
    idle_s: float = 30 * 60.0
    # Without a frame for so long it works on nothing that anybody waits for; never less than idle and a bit.
    hard_s: float = 30 * 60.0
    # A task has nobody who would write again.
    task_linger_s: float = 10.0
    # Between two frames: what a program prints besides is noise, and this much is a fault.
    output_bytes: int = 10 << 20
    # From TERM to KILL.
    term_s: float = 5.0

    @property
    def silent_s(self) -> float:
        """The hard limit in force: an idle container must be asked to close before it is ended."""
        return max(self.hard_s, self.idle_s + 30.0)


class Due(StrEnum):
    """What is to be done now."""

    NOTHING = "nothing"
    CLOSE = "close"
    END = "end"


@dataclass(slots=True)
class ContainerClock:
    """Tell it what happens, ask it what is due. Frames set it back; stderr does not."""

    limits: ContainerLimits
    started: float
    is_task: bool = False
    frames: int = 0
    closing: bool = False
    _heard: float = field(init=False)
    _result_at: float | None = None
    _bytes: int = 0

    def __post_init__(self) -> None:
        self._heard = self.started

    def printed(self, count: int) -> None:
        """So many bytes came on stdout."""
        self._bytes += count

    def framed(self, output: ContainerOutput | None, now: float) -> None:
        """A frame came; None for one that held no output, which is no progress."""
        if output is None:
            return
        self.frames += 1
        self._heard, self._bytes = now, 0
        self._result_at = now if output.is_idle or self.is_task else None

    def due(self, now: float) -> Due:
        """What is to be done at `now`. To close is said once."""
        if now - self._heard >= self.limits.silent_s or self._bytes > self.limits.output_bytes:
            return Due.END
        if self._result_at is None or self.closing:
            return Due.NOTHING
        patience_s = self.limits.task_linger_s if self.is_task else self.limits.idle_s
        if now - self._result_at < patience_s:
            return Due.NOTHING
        self.closing = True
        return Due.CLOSE

    @property
    def is_flood(self) -> bool:
        """Did it print too much?"""
        return self._bytes > self.limits.output_bytes
