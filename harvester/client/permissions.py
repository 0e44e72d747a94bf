"""The part of the daemon's client that asks about permissions: `box why`, `box grant`, `box approvals`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harvester.client.wire import Request, Wire, given, segment


class Permissions:
    """Documents as the API gives them (docs/api.md); each method raises `ClientError`."""

    _wire: Wire

    def why(
        self, identity: str, op: str, args: Mapping[str, Any] | None = None, thread: str | None = None
    ) -> dict[str, Any]:
        """Which rule decides on this call of this identity, and where it stands."""
        body = {"identity": identity, "op": op, "args": args, "thread": thread}
        return self._sent("POST", "/why", given(body))

    def grants(self) -> list[dict[str, Any]]:
        """All grants, the strongest place first."""
        return list(self._wire.get("/grants").get("grants", ()))

    def set_grant(self, subject: str, rules: Mapping[str, Any]) -> dict[str, Any]:
        """Replaces what the store grants to a role or an identity."""
        return self._sent("PUT", "/grants", {"subject": subject, "rules": dict(rules)})

    def remove_grant(self, subject: str) -> None:
        """Raises `Refused` with NOT_FOUND where the store has none."""
        ask = Request(method="DELETE", path="/grants", query={"subject": subject}, repeatable=True)
        self._wire.want(ask)

    def _sent(self, method: str, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        return self._wire.want(Request(method=method, path=path, repeatable=True, body=body)).body

    def approvals(self, state: str | None = None, limit: int = 100) -> list[dict[str, Any]]:
        """Calls that wait, or waited, for a person; the newest first."""
        query: dict[str, str | float] = {"limit": limit}
        if state is not None:
            query["state"] = state
        return list(self._wire.get("/approvals", query).get("approvals", ()))

    def approval(self, approval_id: str) -> dict[str, Any]:
        """One of them, with its whole arguments."""
        return dict(self._wire.get(f"/approvals/{segment(approval_id)}"))

    def approve(self, approval_id: str, digest: str) -> dict[str, Any]:
        """Lets exactly what `digest` stands for run, once."""
        return self._sent("POST", f"/approvals/{segment(approval_id)}/approve", {"digest": digest})

    def deny(self, approval_id: str, reason: str | None = None) -> dict[str, Any]:
        """Keeps it from running."""
        body = {} if reason is None else {"reason": reason}
        return self._sent("POST", f"/approvals/{segment(approval_id)}/deny", body)
