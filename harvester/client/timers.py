"""The part of the daemon's client that asks about timers, and tells what agents say came of their runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harvester.client.wire import Wire, given, segment


class Timers:
    """Documents as the API gives them (docs/api.md); each method raises `ClientError`."""

    _wire: Wire

    def timer(self, timer: str) -> dict[str, Any]:
        """One timer, by id or name."""
        return dict(self._wire.get(f"/timers/{segment(timer)}"))

    def timer_runs(self, timer: str, limit: int = 20) -> list[dict[str, Any]]:
        """Its runs, the newest first."""
        return list(self._wire.get(f"/timers/{segment(timer)}/runs", {"limit": limit}).get("runs", ()))

    def run_timer(self, timer: str) -> dict[str, Any]:
        """One more run, now; sent once."""
        return self._wire.post(f"/timers/{segment(timer)}/run", {})

    def preview_timer(
        self, schedule: str, schedule_type: str | None = None, tz: str | None = None
    ) -> dict[str, Any]:
        """`{schedule_type, tz, next}`: when a schedule would be due. Nothing is made."""
        body = {"schedule": schedule, "schedule_type": schedule_type, "tz": tz}
        return self._wire.post("/timers/preview", given(body), repeatable=True)

    def order(self, agent: str, title: str, text: str, **more: Any) -> dict[str, Any]:
        """Has the agent do one thing now: the run, whose job ends with the agent's verdict. Sent once."""
        body = given({"agent": agent, "title": title, "text": text, **more})
        return self._wire.post("/orders", body)

    def tell_verdict(
        self,
        reply: str,
        verdict: str,
        *,
        summary: str | None = None,
        artifacts: Sequence[Any] = (),
    ) -> dict[str, Any]:
        """`{run, job}`: the run that the reply's verdict is about, both None where it is about none.

        Told again it changes nothing.
        """
        body = {"reply": reply, "verdict": verdict, "summary": summary, "artifacts": list(artifacts) or None}
        return self._wire.post("/verdicts", given(body), repeatable=True)
