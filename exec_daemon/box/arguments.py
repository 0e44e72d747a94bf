"""The argument types of the eight reads that take one, and their check (O 7.1, O-42, O-43).

The check runs before any file, program or store is touched. A type is a pattern for the whole text, so a
trailing line break, a NUL, a slash, a leading `-` or 200 KB match none of them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from exec_daemon.box.errors import BoxError, echo, failure
from messaging import ErrorCode

# Linux's PID_MAX_LIMIT (proc(5), /proc/sys/kernel/pid_max).
MAX_PID: Final = 4_194_304


@dataclass(frozen=True, slots=True)
class ArgumentType:
    """One type of argument. `expected` says in words what is right; `hint` helps where callers go wrong."""

    name: str
    pattern: str
    expected: str
    example: str
    hint: str


_ID: Final = r"(?!-)[A-Za-z0-9_-]{1,128}"
_NAME: Final = r"[a-z0-9][a-z0-9._-]{0,63}"

JOB_ID: Final = ArgumentType("job_id", _ID, "a job id", "job_01", "box.exec jobs lists them")
THREAD_ID: Final = ArgumentType("thread_id", _ID, "a thread id", "ops", "box.exec threads lists them")
AGENT_NAME: Final = ArgumentType("name", _NAME, "an agent's name", "heron", "box.exec agents lists them")
WORKER_ID: Final = ArgumentType("worker_id", _NAME, "a worker id", "w1", "box.exec workers lists them")
TIMER_ID: Final = ArgumentType(
    "timer_id",
    r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}",
    "a timer's id or name",
    "nightly",
    "box.exec timers lists them",
)
PID: Final = ArgumentType(
    "pid",
    r"[1-9][0-9]{0,6}",
    f"a process id, a whole number from 1 to {MAX_PID}",
    "4711",
    "box.exec processes lists them with their names",
)
UNIT: Final = ArgumentType(
    "unit",
    r"[A-Za-z0-9][A-Za-z0-9:._@\\-]{0,127}",
    "the name of a unit or of a log of ours",
    "nginx",
    "box.exec services lists units",
)
REPO_KEY: Final = ArgumentType(
    "key",
    r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}",
    "the key of a configured checkout, not a path",
    "gateway",
    "box.exec repos lists them",
)


def _fits(kind: ArgumentType, text: str) -> bool:
    if kind is PID and len(text) == len(str(MAX_PID)) and text > str(MAX_PID):
        return False
    return ".." not in text and re.fullmatch(kind.pattern, text, re.ASCII) is not None


def _as_text(kind: ArgumentType, value: object) -> str | None:
    """The argument as text: a string, or a JSON integer where a number is what is asked for."""
    if kind is PID and isinstance(value, int) and not isinstance(value, bool):
        return str(value) if 0 < value <= MAX_PID else None
    return value if isinstance(value, str) else None


def _wrong(action: str, kind: ArgumentType, problem: str) -> BoxError:
    return failure(
        ErrorCode.INVALID_ARGS,
        f"box.exec {action}: {problem}; expected {kind.expected}, "
        f"as in `{action} {kind.example}` ({kind.hint})",
        {"action": action, "argument": kind.name, "expected": kind.expected, "pattern": kind.pattern},
    )


def _superfluous(action: str) -> BoxError:
    return failure(
        ErrorCode.INVALID_ARGS,
        f"box.exec {action} takes no argument; leave `arg` out",
        {"action": action, "argument": None},
    )


def check(action: str, kind: ArgumentType | None, value: object) -> tuple[str, ...]:
    """The arguments that the read is called with: none, or the one checked text.

    Raises `BoxError` with INVALID_ARGS where `value` (None: not given) is superfluous, missing or ill-formed.
    """
    if kind is None:
        if value is not None:
            raise _superfluous(action)
        return ()
    if value is None:
        raise _wrong(action, kind, "the argument is missing")
    text = _as_text(kind, value)
    if text is None or not _fits(kind, text):
        raise _wrong(action, kind, f"“{echo(str(value))}” is no {kind.name}")
    return (text,)
