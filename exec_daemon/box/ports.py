"""What the reads need from outside: the store's facts, who asks, the clock and the configured places.

`StoreFacts` is the port to the store. Its methods block and are called from a worker thread, never from
the event loop. A subsystem that this daemon does not have answers None, which the reads show as
`available: false` (O-45).

Scope (O-46): each method that takes a `Scope` gives only what that scope may see. A single object that
is missing and one that is foreign both answer None, so the reads cannot tell them apart either.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Protocol

from exec_daemon.programs import Ran
from messaging import Job, JobEvent, Message, Thread


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose threads and jobs may be seen: those of an identity such as `agent/heron`, or all when None."""

    identity: str | None = None

    @property
    def agent(self) -> str | None:
        """The agent's name where the identity is an agent's: threads belong to agents only."""
        kind, _, name = (self.identity or "").partition("/")
        return name if kind == "agent" else None

    def covers_agent(self, name: str) -> bool:
        """May jobs and usage of this agent be seen?"""
        return self.identity is None or self.agent == name


# An operator's scope, and the scope of `box-ctl` run by the owner of the state directory.
EVERYTHING = Scope()


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentFacts:
    """A registered agent. `thread` is its home; `permissions` are op globs; times are UTC ISO 8601."""

    name: str
    role: str
    thread: str
    adapter: str | None = None
    status: str | None = None
    last_seen: str | None = None
    current_job: str | None = None
    session: str | None = None
    permissions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerFacts:
    """A swarm worker. `alive` is None where nobody knows; `tmux_target` names the pane it runs in."""

    id: str
    state: str
    alive: bool | None = None
    agent: str | None = None
    tmux_target: str | None = None
    heartbeat_at: str | None = None
    job: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TimerRun:
    """One past run of a timer."""

    at: str
    verdict: str | None = None
    job: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TimerFacts:
    """A timer. `stale` says that its next run is overdue; `runs` (newest first) only for one timer."""

    id: str
    name: str
    schedule: str
    tz: str
    enabled: bool
    next_run: str | None = None
    last_run: str | None = None
    last_verdict: str | None = None
    stale: bool = False
    definition: Mapping[str, Any] = field(default_factory=dict)
    runs: tuple[TimerRun, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueFacts:
    """What waits, over the whole daemon. A count that this daemon does not keep is None."""

    running_jobs: int
    oldest_running_s: float | None = None
    unharvested_replies: int | None = None
    callbacks: int | None = None
    dead_letters: int | None = None
    approvals_pending: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageFacts:
    """Tokens and US dollars that one agent spent on one model; None where its CLI reports none (A-02)."""

    agent: str
    model: str
    tokens_today: int | None
    tokens_7d: int | None
    usd_today: float | None
    usd_7d: float | None
    usd_left: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorFacts:
    """A failed job or a dead letter. `code` is one of `messaging.ErrorCode`."""

    at: str
    code: str
    message: str
    op: str | None = None
    job: str | None = None
    thread: str | None = None


class StoreFacts(Protocol):
    """The store, as the reads see it. Lists are newest first and hold at most `limit` rows.

    Every method may raise `exec_daemon.box.errors.FactsUnavailable`, and nothing else.
    """

    def agents(self) -> Sequence[AgentFacts]: ...

    def agent(self, name: str) -> AgentFacts | None: ...

    def workers(self, scope: Scope) -> Sequence[WorkerFacts] | None: ...

    def worker(self, worker_id: str, scope: Scope) -> WorkerFacts | None: ...

    def timers(self, scope: Scope) -> Sequence[TimerFacts] | None: ...

    def timer(self, id_or_name: str, scope: Scope) -> TimerFacts | None: ...

    def open_jobs(self, scope: Scope, limit: int) -> Sequence[Job]: ...

    def ended_jobs(self, scope: Scope, limit: int) -> Sequence[Job]: ...

    def job(self, job_id: str, scope: Scope) -> Job | None: ...

    def job_events(self, job_id: str, limit: int) -> Sequence[JobEvent]:
        """The last `limit` events of a job that `job` gave, oldest first."""
        ...

    def threads(self, scope: Scope, limit: int) -> Sequence[Thread]: ...

    def thread(self, thread_id: str, scope: Scope) -> Thread | None: ...

    def last_messages(self, thread_id: str, limit: int) -> Sequence[Message]:
        """The last `limit` messages of a thread that `thread` gave, oldest first."""
        ...

    def queue(self) -> QueueFacts: ...

    def usage(self, scope: Scope) -> Sequence[UsageFacts] | None: ...

    def errors(self, scope: Scope, limit: int) -> Sequence[ErrorFacts]: ...


# O 7.1 allows a read five seconds; what it has by then it can still put together.
READ_LIMIT_S: Final = 4.5


@dataclass(frozen=True, slots=True)
class OtherBoxCtl:
    """Another box-ctl program. `run` says what came of an argument list in so many seconds, in any thread.

    It raises `ProgramError` where nothing ran.
    """

    path: Path
    run: Callable[[tuple[str, ...], float], Ran]


@dataclass(frozen=True, slots=True, kw_only=True)
class BoxContext:
    """Everything that a read may use besides the machine itself.

    `facts` is None where there is no store. `repos` are the configured checkouts by key: a caller names a
    key, never a path. `log_dir` holds our own log files, `<unit>.log`. `clock` gives seconds since the
    epoch. `secrets` are values that never leave, whatever they look like (`messaging.secret_values`).
    `sample_s` is how long the use of the processor is measured. `tmux_socket` is the server to look at, the
    user's own when None. `daemon_file` is `daemon.json` of our daemon. `program` is another box-ctl program,
    which then answers the reads of the machine. `limit_s` is for all programs of one read together. `keep`
    takes the whole of a reading that is cut, as JSON, and gives the reference that is shown, None when it
    cannot.
    """

    facts: StoreFacts | None = None
    scope: Scope = EVERYTHING
    repos: Mapping[str, Path] = field(default_factory=lambda: MappingProxyType({}))
    log_dir: Path | None = None
    clock: Callable[[], float] = time.time
    secrets: tuple[str, ...] = ()
    sample_s: float = 0.1
    tmux_socket: Path | None = None
    daemon_file: Path | None = None
    program: OtherBoxCtl | None = None
    limit_s: float = READ_LIMIT_S
    keep: Callable[[bytes], dict[str, Any] | None] = lambda _: None
