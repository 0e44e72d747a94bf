"""A result: what a job ended with, data or a typed error, as `POST /exec` answers it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from messaging.errors import CallError
from messaging.json_out import compact
from messaging.quick import quickly_made

_write = compact()


@quickly_made
@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The end of one call. `error` is None exactly when it succeeded; `data` is JSON.

    `job_id` is None where no job came to be (refused before the journal). `replayed` says that this is
    the stored answer of an earlier run with the same call id. `text` is `data` as compact JSON, where it has
    been written already.
    """

    op: str
    call_id: str | None = None
    job_id: str | None = None
    side_effecting: bool = False
    duration_ms: float = 0.0
    data: Any = None
    error: CallError | None = None
    replayed: bool = False
    text: str | None = field(default=None, repr=False, compare=False)

    @property
    def ok(self) -> bool:
        """True when the call succeeded."""
        return self.error is None

    def to_json(self) -> dict[str, Any]:
        """`{ok, op, call_id, job_id, side_effecting, duration_ms, result | error, replayed?}`."""
        body = self._head()
        if self.error is None:
            body["result"] = self.data
        else:
            body["error"] = self.error.to_json()
        return body | ({"replayed": True} if self.replayed else {})

    def to_text(self) -> str:
        """The same as compact JSON. What has been written already is not written again."""
        if self.text is None or self.error is not None:
            return _write(self.to_json())
        replayed = ',"replayed":true' if self.replayed else ""
        return f'{_write(self._head())[:-1]},"result":{self.text}{replayed}}}'

    def _head(self) -> dict[str, Any]:
        return {
            "ok": self.ok,
            "op": self.op,
            "call_id": self.call_id,
            "job_id": self.job_id,
            "side_effecting": self.side_effecting,
            "duration_ms": self.duration_ms,
        }

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Result:
        """The inverse of `to_json`; raises KeyError when `op` or `ok` is missing."""
        failed = None if body["ok"] else CallError.from_json(body.get("error") or {})
        return cls(
            op=body["op"],
            call_id=body.get("call_id"),
            job_id=body.get("job_id"),
            side_effecting=bool(body.get("side_effecting")),
            duration_ms=float(body.get("duration_ms") or 0.0),
            data=body.get("result"),
            error=failed,
            replayed=bool(body.get("replayed")),
        )
