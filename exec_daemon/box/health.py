"""health: one verdict over the machine and the daemon, with its reasons."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from math import inf
from typing import Any, Final

from exec_daemon.box.errors import FactsUnavailable
from exec_daemon.box.kernel_files import pressure
from exec_daemon.box.machine import disk, memory
from exec_daemon.box.ports import EVERYTHING, BoxContext
from exec_daemon.box.programs import Deadline
from exec_daemon.box.reading import Reading
from exec_daemon.box.services import list_units


class Level(StrEnum):
    """How bad it is, mildest first."""

    OK = "ok"
    WARN = "warn"
    CRIT = "crit"


_ORDER: Final = tuple(Level)


@dataclass(frozen=True, slots=True)
class Limits:
    """From which value on something is a warning, and from which it is critical."""

    warn: float
    crit: float

    def level(self, value: float) -> Level:
        """The level of `value`."""
        if value >= self.crit:
            return Level.CRIT
        return Level.WARN if value >= self.warn else Level.OK


@dataclass(frozen=True, slots=True)
class Reason:
    """Why the verdict is not `ok`."""

    level: Level
    subject: str
    message: str


# O 7.1, row 1. All in percent. Memory is what is *not* available: less than 10 and 5 percent left.
_DISK: Final = Limits(85, 95)
_INODES: Final = Limits(85, 95)
_MEMORY: Final = Limits(90.1, 95.1)
# Share of the last minute in which some task waited. A machine that is busy waits for its processors all the
# time and works, so that is never critical; one that waits for memory thrashes long before it always does.
_PRESSURE: Final = {"cpu": Limits(80, inf), "io": Limits(40, 80), "memory": Limits(10, 40)}


def _of_disks(context: BoxContext) -> Iterator[Reason]:
    for mount in disk(context).data["mounts"]:
        for limits, field, what in (
            (_DISK, "used_percent", "full"),
            (_INODES, "inodes_used_percent", "of inodes"),
        ):
            message = f"{mount['mount']} is {mount[field]} % {what}"
            yield Reason(limits.level(mount[field]), "disk", message)


def _of_memory(context: BoxContext) -> Iterator[Reason]:
    left = memory(context).data["available_percent"]
    yield Reason(_MEMORY.level(100 - left), "memory", f"{left} % of memory is available")


def _of_pressure(_context: BoxContext) -> Iterator[Reason]:
    for resource, limits in _PRESSURE.items():
        waited = ((pressure(resource) or {}).get("some") or {}).get("avg60", 0.0)
        message = f"tasks waited for {resource} in {waited:.0f} % of the last minute"
        yield Reason(limits.level(waited), resource, message)


def _of_services(context: BoxContext) -> Iterator[Reason]:
    failed = [
        unit["unit"] for unit in list_units(Deadline(context.limit_s)) or () if unit.get("active") == "failed"
    ]
    yield from _counted("services", len(failed), f"failed units: {', '.join(failed)}")


def _of_store(context: BoxContext) -> Iterator[Reason]:
    """Counts only, over everything: the box is as healthy for one asker as for another."""
    facts = context.facts
    if facts is None:
        return
    dead = sum(worker.alive is False for worker in facts.workers(EVERYTHING) or ())
    stale = sum(timer.stale for timer in facts.timers(EVERYTHING) or ())
    letters = facts.queue().dead_letters or 0
    yield from _counted("workers", dead, f"{dead} workers are dead")
    yield from _counted("timers", stale, f"{stale} timers are overdue")
    yield from _counted("queue", letters, f"{letters} dead letters")


def _counted(subject: str, count: int, message: str) -> Iterator[Reason]:
    if count:
        yield Reason(Level.WARN, subject, message)


_LOOKS: Final[tuple[Callable[[BoxContext], Iterator[Reason]], ...]] = (
    _of_disks,
    _of_memory,
    _of_pressure,
    _of_services,
    _of_store,
)


def _reasons(context: BoxContext) -> Iterator[Reason]:
    for look in _LOOKS:
        try:
            yield from look(context)
        except FactsUnavailable as failed:
            yield Reason(Level.CRIT, "store", failed.error.message)


def health(context: BoxContext) -> Reading:
    """`{"verdict": "ok" | "warn" | "crit", "reasons": […]}`, the worst reason first."""
    bad = sorted(
        (reason for reason in _reasons(context) if reason.level is not Level.OK),
        key=lambda reason: -_ORDER.index(reason.level),
    )
    rows: list[dict[str, Any]] = [
        {"level": str(reason.level), "subject": reason.subject, "message": reason.message} for reason in bad
    ]
    return Reading({"verdict": rows[0]["level"] if rows else "ok", "reasons": rows})
