"""Job events: the steps of one job, in order (M-01 to M-12).

`accepted`, then any number of `progress` and `warning`, then exactly one of `succeeded` and `failed`.
`event_order` has the order as a table, `event_schema` reads events that others wrote.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from messaging.quick import quickly_made

# M-27: what may stand in a NATS subject, a file name and a URL path alike.
JOB_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,128}")

_ENCODER: Final = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def dump(value: Any) -> str:
    """Compact JSON; raises TypeError or ValueError for what is none, NaN and infinities included."""
    return _ENCODER.encode(value)


class EventType(StrEnum):
    """What a step is."""

    ACCEPTED = "accepted"
    PROGRESS = "progress"
    WARNING = "warning"
    SUCCEEDED = "succeeded"
    FAILED = "failed"

    @property
    def terminal(self) -> bool:
        """Nothing follows a terminal event."""
        return self in (EventType.SUCCEEDED, EventType.FAILED)


class JobState(StrEnum):
    """Where a job stands; `succeeded` and `failed` are final."""

    AWAITING_APPROVAL = "awaiting_approval"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"


@quickly_made
@dataclass(frozen=True, slots=True, kw_only=True)
class JobEvent:
    """One step. `seq` counts from 0 without gaps; `ts` is UTC with milliseconds and `Z` (M-02, M-03)."""

    job_id: str
    seq: int
    ts: str
    type: EventType
    payload: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """`<job_id>:<seq>`: the same for every delivery of the event (M-37, M-61)."""
        return f"{self.job_id}:{self.seq}"

    def encode(self) -> bytes:
        """One line of compact JSON, without the newline. A lone surrogate, no UTF-8, becomes `?`."""
        return dump(self.to_json()).encode("utf-8", "replace")

    def to_json(self) -> dict[str, Any]:
        """`{job_id, seq, ts, type}` and the fields of its type beside them."""
        head = {"job_id": self.job_id, "seq": self.seq, "ts": self.ts, "type": str(self.type)}
        return head | dict(self.payload)


@quickly_made
@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One execution of a call, as `GET /jobs/{id}` shows it.

    `identity` is the effective one: for a directive in a reply the agent that wrote the reply, and not the
    harvester that brought it. `incomplete`: the job ran elsewhere, and an event of it never came (M-55).
    """

    id: str
    op: str
    args: Mapping[str, Any]
    call_id: str
    identity: str
    state: JobState
    created_at: str
    side_effecting: bool
    thread: str | None = None
    reply: str | None = None
    ended_at: str | None = None
    duration_ms: float | None = None
    result: Any = None
    error: Mapping[str, Any] | None = None
    incomplete: bool = False

    def to_json(self) -> dict[str, Any]:
        """All fields; `result` and `error` as the call was answered, `incomplete` where it is so."""
        body = {key: getattr(self, key) for key in self.__dataclass_fields__}
        if not self.incomplete:
            del body["incomplete"]
        return body | {"state": str(self.state), "args": dict(self.args)}

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Job:
        """The inverse of `to_json`; fields that we do not know are left out."""
        known = {key: body[key] for key in cls.__dataclass_fields__ if key in body}
        return cls(**known | {"state": JobState(body["state"])})
