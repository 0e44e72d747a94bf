"""processes and process: what runs. Command lines are redacted, environments are never read."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from heapq import nlargest
from typing import Any, Final

import psutil

from exec_daemon.box.errors import not_found
from exec_daemon.box.kernel_files import read_text
from exec_daemon.box.ports import BoxContext
from exec_daemon.box.reading import Reading
from exec_daemon.box.times import iso
from messaging import redact

# O 7.1: the top twenty by processor and the top twenty by memory.
_TOP: Final = 20
# An option whose value is a secret by the option's name, value in the next word (`--auth-token X`).
_SECRET_OPTION: Final = re.compile(
    r"-{1,2}[\w-]*(?:token|passw|secret|api-?key|credential)[\w-]*|--auth", re.IGNORECASE
)


def command_line(words: Sequence[str]) -> str:
    """The command line as one text, with the values of secret options covered."""
    shown = list(words)
    for index, word in enumerate(words[:-1]):
        if _SECRET_OPTION.fullmatch(word):
            shown[index + 1] = "[REDACTED]"
    return redact(" ".join(shown))


def _or_none(ask: Callable[[], Any]) -> Any:
    """What `ask` finds, or None for what this user may not see or what is gone meanwhile."""
    try:
        return ask()
    except (psutil.Error, OSError):
        return None


def _cpu_s(process: psutil.Process) -> float | None:
    """Processor time that the process has used, in seconds."""
    times = _or_none(process.cpu_times)
    return times.user + times.system if times else None


@dataclass(frozen=True, slots=True)
class _Figures:
    """What processes are compared by. All zero for one that is gone."""

    cpu_percent: float
    cpu_s: float
    rss_bytes: int

    @classmethod
    def of(cls, process: psutil.Process, before_s: float | None, started_s: float) -> _Figures:
        memory = _or_none(process.memory_info)
        percent = _percent(process, before_s, started_s)
        return cls(percent, before_s or 0.0, memory.rss if memory else 0)

    @property
    def by_cpu(self) -> tuple[float, float]:
        """Use in the sample; between idle ones, use since they began."""
        return self.cpu_percent, self.cpu_s


def processes(context: BoxContext) -> Reading:
    """The processes that use most of the processor (over a short sample) and of the memory."""
    before = {process: _cpu_s(process) for process in psutil.process_iter()}
    started_s = time.monotonic()
    time.sleep(context.sample_s)
    figures = {process: _Figures.of(process, cpu_s, started_s) for process, cpu_s in before.items()}
    by_cpu = nlargest(_TOP, figures, key=lambda process: figures[process].by_cpu)
    by_memory = nlargest(_TOP, figures, key=lambda process: figures[process].rss_bytes)
    return Reading(
        {
            "count": len(figures),
            "by_cpu": [_row(process, figures[process]) for process in by_cpu],
            "by_memory": [_row(process, figures[process]) for process in by_memory],
        }
    )


def _percent(process: psutil.Process, before_s: float | None, started_s: float) -> float:
    """Percent of one core that the process used since `started_s`."""
    after_s = _cpu_s(process)
    if before_s is None or after_s is None:
        return 0.0
    return round(100 * (after_s - before_s) / (time.monotonic() - started_s), 1)


def _row(process: psutil.Process, figures: _Figures) -> dict[str, Any]:
    return {
        "pid": process.pid,
        "name": _or_none(process.name),
        "user": _or_none(process.username),
        "cpu_percent": figures.cpu_percent,
        "rss_bytes": figures.rss_bytes,
        "command": command_line(_or_none(process.cmdline) or ()),
    }


# What `process` shows, field by field; each may be closed to this user, then it is null.
_FIELDS: Final[dict[str, Callable[[psutil.Process], Any]]] = {
    "name": lambda process: process.name(),
    "status": lambda process: process.status(),
    "user": lambda process: process.username(),
    "parent": lambda process: process.ppid(),
    "command": lambda process: command_line(process.cmdline()),
    "cwd": lambda process: process.cwd(),
    "started_at": lambda process: iso(process.create_time()),
    "cpu_s": _cpu_s,
    "rss_bytes": lambda process: process.memory_info().rss,
    "threads": lambda process: process.num_threads(),
    "fds": lambda process: process.num_fds(),
    "children": lambda process: [{"pid": child.pid, "name": child.name()} for child in process.children()],
    "cgroup": lambda process: (read_text(f"/proc/{process.pid}/cgroup") or "").split("\n")[0] or None,
}


def process(context: BoxContext, pid: str) -> Reading:
    """One process; NOT_FOUND when no process has this id."""
    try:
        found = psutil.Process(int(pid))
        before_s, started_s = _cpu_s(found), time.monotonic()
    except psutil.NoSuchProcess:
        raise not_found("process", pid) from None
    time.sleep(context.sample_s)
    fields = {name: _or_none(partial(ask, found)) for name, ask in _FIELDS.items()}
    closed = [name for name, value in fields.items() if value is None]
    data = {"pid": found.pid, "cpu_percent": _percent(found, before_s, started_s)} | fields
    return Reading(data, (f"not visible to this user: {', '.join(closed)}",) if closed else ())
