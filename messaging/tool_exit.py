"""How a tool's process ended, against what its events say (M-14 to M-16).

The terminal event decides. The exit code is a backstop: it speaks only where that event is missing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from messaging.events import EventType, JobEvent

STAGES: Final = ("classify", "extract", "transcribe", "format")

# M-15, M-66. 130 is 128 + SIGINT, what a shell shows of an interrupted program.
EXIT_OF_CODE: Final[Mapping[str, int]] = MappingProxyType(
    {"general": 1, "usage": 2, "blocked_url": 3, "extraction": 4, "formatting": 5, "cancelled": 130}
)
GENERAL: Final = "general"
_CODE_OF_EXIT: Final = {status: code for code, status in EXIT_OF_CODE.items()}


@dataclass(frozen=True, slots=True)
class End:
    """How a job ended. `doubt` is for the log: the process and its events do not agree."""

    event: JobEvent
    doubt: str | None = None


def exit_of(code: str) -> int:
    """The exit code of a failure; a code that is not in the table counts as `general`."""
    return EXIT_OF_CODE.get(code, EXIT_OF_CODE[GENERAL])


def settle(job_id: str, events: Sequence[JobEvent], exit_code: int, at: str) -> End:
    """The end of a job whose process has ended. `exit_code` is negative after a signal, as subprocess has it.

    Without a terminal event one is made: whatever the process returned, a job without a result failed.
    """
    terminal = next((event for event in events if event.type.terminal), None)
    if terminal is None:
        return End(_made_up(job_id, events, exit_code, at), f"{job_id} ended without a terminal event")
    wanted = 0 if terminal.type is EventType.SUCCEEDED else exit_of(str(terminal.payload.get("code")))
    if exit_code == wanted:
        return End(terminal)
    return End(terminal, f"{job_id} says {terminal.type}, its process ended with {exit_code}")


def _made_up(job_id: str, events: Sequence[JobEvent], exit_code: int, at: str) -> JobEvent:
    code = _CODE_OF_EXIT.get(exit_code, GENERAL)
    how = f"signal {-exit_code}" if exit_code < 0 else f"exit code {exit_code}"
    payload = {"code": code, "message": f"The tool ended with {how} and told no result."}
    seq = max((event.seq for event in events), default=-1) + 1
    return JobEvent(job_id=job_id, seq=seq, ts=at, type=EventType.FAILED, payload=payload)
