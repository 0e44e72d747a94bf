"""The part of the daemon's client that asks about workers, and tells how a host has found them."""

from __future__ import annotations

from typing import Any, NamedTuple

from harvester.client.wire import Wire, given, segment

# A long poll is answered after its wait plus the time for one read of the store.
_SLACK_S = 10.0


class WorkerList(NamedTuple):
    """Workers, the newest first, and what names this answer for the next long poll."""

    workers: list[dict[str, Any]]
    seen: str


class Workers:
    """Documents as the API gives them (docs/api.md); each method raises `ClientError`."""

    _wire: Wire

    def workers(self, *, everything: bool = False, wait_s: float = 0.0, seen: str = "") -> WorkerList:
        """Those that this identity may see; waits up to `wait_s` for a list that is not the one `seen`."""
        query: dict[str, Any] = {"state": "all" if everything else "alive", "limit": 500}
        if wait_s:
            query |= {"wait": wait_s, "seen": seen}
        body = self._wire.get("/workers", query, read_s=wait_s + _SLACK_S)
        return WorkerList(list(body.get("workers", ())), str(body.get("seen", "")))

    def worker(self, worker: str) -> dict[str, Any]:
        """One worker, by id."""
        return dict(self._wire.get(f"/workers/{segment(worker)}"))

    def report_worker(
        self, worker: str, state: str, *, reason: str | None = None, session: str | None = None
    ) -> dict[str, Any]:
        """How a host has found it; the answer is how it stands. Told again it is a heartbeat."""
        said = {"state": state, "reason": reason, "session": session}
        body = given(said)
        path = f"/workers/{segment(worker)}/state"
        return dict(self._wire.post(path, body, repeatable=True))
