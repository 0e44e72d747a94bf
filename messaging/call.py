"""A call: what a directive becomes once its names are normalised, and what travels to the daemon."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from messaging.quick import quickly_made


@quickly_made
@dataclass(frozen=True, slots=True)
class Call:
    """One op with its arguments.

    `call_id` is the idempotency key: the same id with the same content runs once. None means that the
    caller has none; the daemon then gives one.
    """

    op: str
    args: Mapping[str, Any] = field(default_factory=dict)
    call_id: str | None = None


@quickly_made
@dataclass(frozen=True, slots=True, kw_only=True)
class CallRequest:
    """The body of `POST /exec`.

    A harvester sets `on_behalf_of` (an agent's name) together with `thread` and `reply` (ids): the store's
    record of that reply proves who wrote it. `op_digest` pins the op: another one is not called.
    """

    call: Call
    thread: str | None = None
    reply: str | None = None
    on_behalf_of: str | None = None
    dry_run: bool = False
    op_digest: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The request body; what is not set is absent."""
        body: dict[str, Any] = {"op": self.call.op, "args": dict(self.call.args)}
        optional = {
            "call_id": self.call.call_id,
            "thread": self.thread,
            "reply": self.reply,
            "on_behalf_of": self.on_behalf_of,
            "op_digest": self.op_digest,
        }
        body.update({key: value for key, value in optional.items() if value is not None})
        if self.dry_run:
            body["dry_run"] = True
        return body
