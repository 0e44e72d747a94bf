"""Workers for a person."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final

# What is shown of one worker, in this order; what is not set is left out.
_FACTS: Final = (
    "state",
    "reason",
    "owner",
    "template",
    "runtime",
    "cwd",
    "thread",
    "job",
    "session",
    "attach",
    "created_at",
    "ended_at",
)


def worker_rows(workers: Sequence[Mapping[str, Any]]) -> list[tuple[object, ...]]:
    """A row for each worker."""
    return [
        (one["id"], one["name"], one["template"], one["owner"], _state(one), _seen(one), one["attach"])
        for one in workers
    ]


def worker_lines(worker: Mapping[str, Any]) -> Iterator[str]:
    """One worker."""
    yield f"{worker['name']} ({worker['id']})"
    yield from (f"  {name:<11}{worker[name]}" for name in _FACTS if worker[name] is not None)
    if (seen := _seen(worker)) is not None:
        yield f"  {'seen':<11}{seen}"


def spawned_lines(made: Mapping[str, Any]) -> Iterator[str]:
    """What was made, and how to get at it."""
    for one in made["workers"]:
        yield f"{one['id']}  {one['attach'] or 'box thread follow ' + one['thread']}"


def _state(worker: Mapping[str, Any]) -> str:
    ending = not worker["stays"] and worker["state"] not in ("ended", "failed", "stopping")
    return f"{worker['state']}, to end" if ending else str(worker["state"])


def _seen(worker: Mapping[str, Any]) -> str | None:
    """How long ago a host saw it alive."""
    if worker["heartbeat_at"] is None or worker["ended_at"] is not None:
        return None
    age = datetime.now(UTC) - datetime.fromisoformat(worker["heartbeat_at"])
    return f"{timedelta(seconds=max(0, round(age.total_seconds())))} ago"
