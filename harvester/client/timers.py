"""The part of the daemon's client that asks about timers, and tells what agents say came of their runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from harvester.client.wire import Request, Wire


class Timers:
    """Documents as the API gives them (docs/api.md); each method raises `ClientError`."""

    _wire: Wire

    def timer(self, timer: str) -> dict[str, Any]:
        """One timer, by id or name."""
        return dict(self._wire.get(f"/timers/{quote(timer, safe='')}"))

    def timer_runs(self, timer: str, limit: int = 20) -> list[dict[str, Any]]:
        """Its runs, the newest first."""
        return list(self._wire.get(f"/timers/{quote(timer, safe='')}/runs", {"limit": limit}).get("runs", ()))

    def run_timer(self, timer: str) -> dict[str, Any]:
        """One more run, now; sent once."""
        ask = Request(method="POST", path=f"/timers/{quote(timer, safe='')}/run", repeatable=False, body={})
        return dict(self._wire.want(ask).body)

    def preview_timer(
        self, schedule: str, schedule_type: str | None = None, tz: str | None = None
    ) -> dict[str, Any]:
        """`{schedule_type, tz, next}`: when a schedule would be due. Nothing is made."""
        body = {"schedule": schedule, "schedule_type": schedule_type, "tz": tz}
        ask = Request(method="POST", path="/timers/preview", repeatable=True, body=_set(body))
        return dict(self._wire.want(ask).body)

    def order(self, agent: str, title: str, text: str, **more: Any) -> dict[str, Any]:
        """Has the agent do one thing now: the run, whose job ends with the agent's verdict. Sent once."""
        body = _set({"agent": agent, "title": title, "text": text, **more})
        ask = Request(method="POST", path="/orders", repeatable=False, body=body)
        return dict(self._wire.want(ask).body)

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
        ask = Request(method="POST", path="/verdicts", repeatable=True, body=_set(body))
        return dict(self._wire.want(ask).body)


def _set(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}
