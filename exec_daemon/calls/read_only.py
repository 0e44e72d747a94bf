"""A read-only op reads: when it runs it gets no way to write, and effects of it are refused.

What an op says of itself is not believed: agents and grants decide by the flag, so an op that contradicts it
would be a hole in both.
"""

from __future__ import annotations

import logging
from typing import Any, Final, cast

from exec_daemon.calls.op import Ended, Op, Success
from exec_daemon.store.port import Store
from exec_daemon.store.values import KeepArtifact
from messaging import ErrorCode, error

log = logging.getLogger(__name__)

# The methods of the port that change nothing; a new one is no reading before it stands here.
READING: Final = frozenset(
    {
        "agent",
        "agents",
        "approval",
        "approvals",
        "arrivals",
        "artifact",
        "audit",
        "cursor",
        "due_timers",
        "events",
        "grants",
        "job",
        "jobs",
        "last_position",
        "last_runs",
        "marks",
        "message",
        "messages",
        "outside_job",
        "outside_jobs",
        "readings",
        "replies",
        "rpc_answer",
        "rpc_tasks",
        "spending",
        "standing",
        "standing_runs",
        "subscribe",
        "thread",
        "threads",
        "timer",
        "timer_runs",
        "timers",
        "tokens",
        "worker",
        "workers",
    }
)


class FlagContradicted(Exception):
    """A read-only op reached for something that changes the store."""


class _Reading:
    """The store without its writing."""

    __slots__ = ("_store",)

    def __init__(self, store: Store) -> None:
        self._store = store

    def __getattr__(self, name: str) -> Any:
        if name not in READING:
            raise FlagContradicted(f"a read-only op asked the store for {name}")
        return getattr(self._store, name)


def store_for(op: Op, store: Store) -> Store:
    """What the op gets of the store."""
    return store if op.side_effecting else cast("Store", _Reading(store))


def true_to_its_flag(op: Op, ended: Ended) -> Ended:
    """`ended`, or INTERNAL_ERROR for effects of a read-only op: then none of them happens.

    That content which a read gave belongs to its job is no effect on anything (M-81).
    """
    if op.side_effecting or not isinstance(ended, Success):
        return ended
    effects = [effect for effect in ended.effects if not isinstance(effect, KeepArtifact)]
    if not effects:
        return ended
    log.error("%s is read-only and wanted %d effects; none happened", op.name, len(effects))
    text = f"{op.name} is read-only and wanted to change something. Nothing was changed."
    return error(ErrorCode.INTERNAL_ERROR, text)
