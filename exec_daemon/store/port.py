"""The store's port: what the daemon asks of a place that remembers.

`SqliteStore` and `MemoryStore` stand behind it, and `tests/contracts` runs the same suite against each.
A method that writes returns after its change is durable: what it returned survives a `kill -9` and a loss
of power. Lists are in the order that their docstring names; `limit` bounds their length.

Any method may raise `StoreUnavailable` and its kinds, and `StoreClosed` after `close()`. A caller that is
cancelled while it waits for a write does not know whether the write happened.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from exec_daemon.store.effects import Effect
from exec_daemon.store.feed import ChangeFeed
from exec_daemon.store.outside_port import Outside
from exec_daemon.store.permissions import Permissions
from exec_daemon.store.readings import Readings
from exec_daemon.store.retention import Excess, Pruned
from exec_daemon.store.rpc_port import Rpc
from exec_daemon.store.timer_port import Timers
from exec_daemon.store.values import (
    Agent,
    AgentRun,
    Appended,
    Artifact,
    AuditCheck,
    AuditLine,
    Begun,
    LastRun,
    NewAuditLine,
    NewJob,
    NewThread,
    Outcome,
    Spending,
    TokenRecord,
)
from exec_daemon.store.worker_port import Workers
from messaging import EventType, Job, JobEvent, JobState, Message, NewMessage, Thread

# One page of a list: enough for a screen, small enough to be built in a few milliseconds.
PAGE = 100


class Threads(Protocol):
    """Threads and their messages, append-only."""

    async def create_thread(self, new: NewThread) -> Thread:
        """Raises `Exists` when the id is taken."""
        ...

    async def thread(self, thread_id: str) -> Thread | None:
        """The thread, or None."""
        ...

    async def threads(self, agent: str | None = None, limit: int = PAGE) -> list[Thread]:
        """Those of one agent, or all; the last active one first."""
        ...

    async def append(self, new: NewMessage) -> Appended:
        """Appends once per (thread, `key`). Raises `NoSuchThread`."""
        ...

    async def message(self, message_id: str) -> Message | None:
        """The message, or None."""
        ...

    async def messages(self, thread_id: str, after: int = 0, limit: int = PAGE) -> list[Message]:
        """Messages with `seq` > `after`, by `seq`; none for a thread that does not exist."""
        ...

    async def replies(self, after: int = 0, limit: int = PAGE) -> list[Message]:
        """Replies of all threads with `position` > `after`, by `position`."""
        ...

    async def last_position(self) -> int:
        """The position of the newest message; 0 for an empty store."""
        ...


class Directory(Protocol):
    """Agents, bearer tokens, and how far named readers have got."""

    async def add_agent(self, agent: Agent) -> Agent:
        """Registers it and makes its home thread, both or neither.

        A thread of that id that is bound to this agent already becomes its home. Raises `Exists` when
        the name is taken, or the thread is another's.
        """
        ...

    async def agent(self, name: str) -> Agent | None:
        """The agent, or the worker with this id, whose role is `worker`; or None."""
        ...

    async def agents(self) -> list[Agent]:
        """All agents, by name."""
        ...

    async def cursor(self, name: str) -> int:
        """The position that was set last; 0 for a new name."""
        ...

    async def set_cursor(self, name: str, position: int) -> None:
        """Replaces the position."""
        ...

    async def add_token(self, token: TokenRecord) -> None:
        """Raises `Exists` when the id or the hash is taken."""
        ...

    async def token_by_sha256(self, sha256: str) -> TokenRecord | None:
        """The record, be it expired or revoked: judging that is the caller's part."""
        ...

    async def tokens(self) -> list[TokenRecord]:
        """All records, oldest first."""
        ...

    async def revoke_token(self, token_id: str) -> bool:
        """False for an unknown id; revoking again keeps the first time."""
        ...

    async def touch_tokens(self, used: Mapping[str, str]) -> None:
        """Notes when each token id was last used; unknown ids are passed over."""
        ...


class Journal(Protocol):
    """What makes a call happen once (docs/why/once.md)."""

    async def begin(self, new: NewJob) -> Begun:
        """Journals the job, its `accepted` event and its audit line together, or finds the earlier one.

        A job that ended with a retryable error gives its call id free: the next `begin` is `New`.
        """
        ...

    async def record(self, new: NewJob, job_id: str, outcome: Outcome, began_at: str) -> Job:
        """Journals a job that ran at once and changed nothing, with its events and its audit line.

        Nobody was told of it before. Its call id is `fresh`, its id new.
        """
        ...

    async def finish(self, job_id: str, outcome: Outcome, effects: Sequence[Effect] = ()) -> Job:
        """Ends the job: its terminal event, its audit line and all `effects` are committed together.

        A job that has ended stays as it is, and the effects do not happen. Raises `NoSuchJob`, whatever
        an effect raises (then the job still runs), and ValueError for effects beside an error.
        """
        ...

    async def add_event(self, job_id: str, event: EventType, payload: Mapping[str, Any]) -> JobEvent:
        """Adds `progress` or `warning`. Raises `NoSuchJob`, `JobEnded`, ValueError for other types."""
        ...

    async def events(self, job_id: str, after: int = -1) -> list[JobEvent]:
        """Events with `seq` > `after`, by `seq`."""
        ...

    async def job(self, job_id: str) -> Job | None:
        """The job, or None."""
        ...

    async def jobs(
        self, identity: str | None = None, state: JobState | None = None, limit: int = PAGE
    ) -> list[Job]:
        """The newest first."""
        ...

    async def interrupt_running(self) -> list[Job]:
        """Ends each running job, for a daemon that starts: nobody works on them any more.

        Those that can have done nothing (read-only, or `effects_inside`) end UNAVAILABLE, retryable, and
        free their call id; the others end INTERRUPTED and keep it.
        """
        ...


class Audit(Protocol):
    """Who did what: a chain of lines that only grows (O-34, docs/security.md)."""

    async def note(self, line: NewAuditLine) -> AuditLine:
        """Adds a line of its own, of something that is no job; jobs are noted by the journal."""
        ...

    async def audit(self, limit: int = PAGE, before: int | None = None) -> list[AuditLine]:
        """Lines with `seq` < `before`, the newest first."""
        ...

    async def check_audit(self, noted: Mapping[int, str] | None = None) -> AuditCheck:
        """Goes along the whole chain. `noted`: hashes by number that somebody wrote down earlier."""
        ...


class Keeping(Protocol):
    """What is remembered, and for how long."""

    async def prune(self, excess: Excess) -> Pruned:
        """Removes a batch of what may go; nothing is left when nothing went.

        A job that runs and a worker that lives never go. The audit starts behind the lines that went: what
        is left of it is whole (`check_audit`).
        """
        ...


class AgentRuns(Protocol):
    """What runs of agents cost."""

    async def add_run(self, run: AgentRun) -> bool:
        """Keeps it, once per `key`: False when it was there."""
        ...

    async def spending(self, since: str, agent: str | None = None) -> list[Spending]:
        """Sums of what was kept at `since` or later, of one agent or all, by agent and model."""
        ...

    async def last_runs(self) -> list[LastRun]:
        """The last run of each agent that ever ran, by agent."""
        ...


class Artifacts(Protocol):
    """What content jobs have kept; `KeepArtifact` is the effect that adds it."""

    async def artifact(self, sha256: str, identity: str | None = None) -> Artifact | None:
        """The content of this hash as the newest of its jobs has it, of one identity or of any."""
        ...


class Store(
    Threads,
    Directory,
    Journal,
    Audit,
    Keeping,
    Outside,
    AgentRuns,
    Artifacts,
    Rpc,
    Permissions,
    Timers,
    Workers,
    Readings,
    ChangeFeed,
    Protocol,
):
    """All of it."""

    async def close(self) -> None:
        """Waits for the writes under way and gives everything back; closing twice is fine."""
        ...
