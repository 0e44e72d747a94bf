"""The values that go into and come out of a store; they know nothing of how it keeps them.

Times are UTC, ISO 8601 with milliseconds and `Z`. Threads, messages, jobs and their events have their
types in `messaging`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from messaging import ArtifactRef, CallError, Job, Message, NewMessage
from messaging.quick import quickly_made


@dataclass(frozen=True, slots=True, kw_only=True)
class NewThread:
    """A thread to be made. `agent` is the name of the agent that answers in it, if one does."""

    id: str
    title: str
    agent: str | None = None


@dataclass(frozen=True, slots=True)
class Appended:
    """A message as the store has it; `replayed` says that an earlier append with its key made it."""

    message: Message
    replayed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """A registered agent. `thread` is the id of its home thread, where its DMs go."""

    name: str
    thread: str
    role: str = "agent"


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenRecord:
    """What the store knows of a bearer token: its hash, never the token (O-33).

    `identity` is who the bearer is (`agent/heron`); `sha256` is lower-case hexadecimal.
    """

    id: str
    sha256: str
    identity: str
    created_at: str
    expires_at: str | None = None
    scopes: tuple[str, ...] = ()
    last_used_at: str | None = None
    revoked_at: str | None = None


@quickly_made
@dataclass(frozen=True, slots=True, kw_only=True)
class NewJob:
    """A call that is about to run (docs/why/once.md).

    `identity` is the effective one: for a call on behalf of an agent it is the agent's, since call ids
    are counted per identity. `on_behalf_of` is the agent's name where a harvester asked, `asked_by` the
    harvester. `digest` covers the content of the call: the same id with another digest is a conflict.
    `effects_inside` says that all its effects are `Effect`s, committed with its end, so that a job which
    did not end did nothing. `fresh` says that the call id was made just now, so that no job can have it.
    """

    identity: str
    call_id: str
    digest: str
    op: str
    args: Mapping[str, Any]
    side_effecting: bool
    effects_inside: bool = False
    thread: str | None = None
    reply: str | None = None
    on_behalf_of: str | None = None
    asked_by: str | None = None
    fresh: bool = False


@quickly_made
@dataclass(frozen=True, slots=True)
class New:
    """The job was just journaled: run it, then `finish` it."""

    job: Job


@dataclass(frozen=True, slots=True)
class Running:
    """The same call is running: wait for its end."""

    job: Job


@dataclass(frozen=True, slots=True)
class Done:
    """The same call has ended: answer with what is stored. `text` is the job's result as it is kept."""

    job: Job
    text: str | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Conflict:
    """The call id stands for another call."""

    job: Job


Begun = New | Running | Done | Conflict


@quickly_made
@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a job ends: with JSON `data`, or with an `error`. `text` is `data` where it is written already."""

    data: Any = None
    text: str | None = None
    error: CallError | None = None
    duration_ms: float = 0.0


@dataclass(frozen=True, slots=True)
class AppendMessage:
    """An effect: the message is appended. `id` is the new message's id, so that a result can name it."""

    message: NewMessage
    id: str | None = None


@dataclass(frozen=True, slots=True)
class KeepArtifact:
    """An effect: the content that `ref` names belongs to the job. Its file is there already."""

    ref: ArtifactRef


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """What is known of kept content: the job that it belongs to, and whose that job is."""

    sha256: str
    bytes: int
    content_type: str
    job_id: str
    identity: str


@quickly_made
@dataclass(frozen=True, slots=True, kw_only=True)
class NewAuditLine:
    """What the audit is told (O-34). `outcome` is `running`, `succeeded` or the code of an error.

    `asked_by` is who asked where that is not `identity`, for whom it ran.
    """

    at: str
    identity: str
    op: str
    args_digest: str
    call_id: str
    outcome: str
    asked_by: str | None = None
    job_id: str | None = None
    duration_ms: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditLine(NewAuditLine):
    """A line in its place; `hash` covers it and the hash of the line before (`store/audit_chain.py`)."""

    seq: int
    hash: str

    def to_json(self) -> dict[str, Any]:
        """As the API shows it."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class AuditBreak:
    """The first line of the audit that is not as it was written."""

    seq: int
    problem: str


@dataclass(frozen=True, slots=True)
class AuditCheck:
    """What a look along the whole audit found: how many lines are whole, and the last of them."""

    lines: int
    last: int
    hash: str
    broken: AuditBreak | None = None

    def to_json(self) -> dict[str, Any]:
        """As the API shows it."""
        return {"ok": self.broken is None} | asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRun:
    """What one run of an agent used; None is "not reported" (A-02). Money in millionths of a US dollar.

    `session` is the CLI's own, which the next run may resume (A-08).
    """

    key: str
    agent: str
    model: str
    adapter: str | None = None
    session: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    cost_microusd: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LastRun:
    """When an agent ran last, with which adapter, in which session."""

    agent: str
    at: str
    adapter: str | None
    session: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """What runs of one agent on one model came to. `tokens`: those in and out, without the cached ones."""

    agent: str
    model: str
    runs: int
    tokens: int | None
    cost_microusd: int | None
