"""The tables of the double, and what its three parts share."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field, fields

from exec_daemon.store.errors import StoreClosed
from exec_daemon.store.feed import Feed
from exec_daemon.store.once import Entry
from exec_daemon.store.outside_values import Arrival, OutsideJob
from exec_daemon.store.permissions import Approval, GrantRecord
from exec_daemon.store.readings import Reading
from exec_daemon.store.rpc_values import RpcAnswer, RpcTask
from exec_daemon.store.sources import Clock, NewId, random_id, utc_now
from exec_daemon.store.timer_values import Timer, TimerRun
from exec_daemon.store.values import Agent, AgentRun, Artifact, AuditLine, TokenRecord
from exec_daemon.store.worker_values import Worker
from messaging import JobEvent, Message, Thread


@dataclass(slots=True)
class Tables:
    """Everything that is remembered. `calls` maps (identity, call id) to the job that holds it."""

    threads: dict[str, Thread] = field(default_factory=dict)
    messages: dict[str, Message] = field(default_factory=dict)
    keyed: dict[tuple[str, str], Message] = field(default_factory=dict)
    agents: dict[str, Agent] = field(default_factory=dict)
    cursors: dict[str, int] = field(default_factory=dict)
    tokens: dict[str, TokenRecord] = field(default_factory=dict)
    jobs: dict[str, Entry] = field(default_factory=dict)
    calls: dict[tuple[str, str], str] = field(default_factory=dict)
    events: defaultdict[str, list[JobEvent]] = field(default_factory=lambda: defaultdict(list))
    audit: list[AuditLine] = field(default_factory=list)
    audit_start: tuple[int, str] = (0, "")
    outside: dict[str, OutsideJob] = field(default_factory=dict)
    runs: dict[str, tuple[str, AgentRun]] = field(default_factory=dict)
    rpc_answers: dict[tuple[str, str], RpcAnswer] = field(default_factory=dict)
    rpc_tasks: dict[tuple[str, str], RpcTask] = field(default_factory=dict)
    artifacts: list[Artifact] = field(default_factory=list)
    timers: dict[str, Timer] = field(default_factory=dict)
    readings: dict[tuple[str, str], Reading] = field(default_factory=dict)
    timer_runs: dict[tuple[str, str], TimerRun] = field(default_factory=dict)
    workers: dict[str, Worker] = field(default_factory=dict)
    grants: dict[str, GrantRecord] = field(default_factory=dict)
    approvals: dict[str, Approval] = field(default_factory=dict)
    marks: set[tuple[str, str, str]] = field(default_factory=set)
    arrivals: defaultdict[str, list[Arrival]] = field(default_factory=lambda: defaultdict(list))

    def snapshot(self) -> Tables:
        """Tables of their own with the same rows, which are never changed in place."""
        return Tables(**{table.name: copy(getattr(self, table.name)) for table in fields(self)})


class MemoryPart:
    """State of the double. Its methods never await, so on one event loop nothing comes between.

    Times and ids are taken when a method is called, used or not, as the store on disk does.
    """

    def __init__(self, clock: Clock = utc_now, new_id: NewId = random_id) -> None:
        self._clock = clock
        self._new_id = new_id
        self._feed = Feed()
        self._open_tables: Tables | None = Tables()

    @property
    def _tables(self) -> Tables:
        if self._open_tables is None:
            raise StoreClosed("the store is closed")
        return self._open_tables

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """What raises inside leaves no trace."""
        before = self._tables.snapshot()
        try:
            yield
        except Exception:
            self._open_tables = before
            raise
