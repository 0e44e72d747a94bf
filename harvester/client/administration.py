"""The part of the daemon's client for who runs it: agents, the audit, tokens, and how the daemon is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harvester.client.wire import Request, Wire, given, segment


class Administration:
    """Documents as the API gives them (docs/api.md); each method raises `ClientError`."""

    _wire: Wire

    def agents(self) -> list[dict[str, Any]]:
        """The registered agents."""
        return list(self._wire.get("/agents").get("agents", ()))

    def add_agent(self, name: str, thread: str | None = None) -> dict[str, Any]:
        """Register an agent together with its home thread."""
        return self._wire.post("/agents", given({"name": name, "thread": thread}))

    def add_run(self, agent: str, key: str, **used: Any) -> dict[str, Any]:
        """Count a run of the agent: `model`, `input_tokens`, …, `cost_usd`, as far as they are known."""
        return self._wire.post(f"/agents/{segment(agent)}/runs", given({"key": key, **used}), repeatable=True)

    def audit(self, *, limit: int = 100, before: int | None = None) -> list[dict[str, Any]]:
        """Lines of the audit, the newest first; `before` is the number of the line behind them."""
        parameters = given({"limit": limit, "before": before})
        return list(self._wire.get("/audit", parameters).get("lines", ()))

    def check_audit(self, noted: str = "") -> dict[str, Any]:
        """Is the whole audit as it was written? `noted`: earlier ends, `NUMBER:HASH,NUMBER:HASH`."""
        return self._wire.get("/audit/check", {"noted": noted} if noted else {})

    def tokens(self) -> list[dict[str, Any]]:
        """What is known of the tokens; never the tokens themselves."""
        return list(self._wire.get("/tokens").get("tokens", ()))

    def create_token(
        self, identity: str, *, ttl_s: int | None = None, scopes: Sequence[str] = ()
    ) -> dict[str, Any]:
        """A new token for `<kind>/<name>`; the answer is the only place where it is ever shown."""
        scoped = list(scopes) or None
        return self._wire.post("/tokens", given({"identity": identity, "ttl_s": ttl_s, "scopes": scoped}))

    def revoke_token(self, token_id: str) -> dict[str, Any]:
        """Make a token worthless. Revoking twice is revoking once."""
        path = f"/tokens/{segment(token_id)}"
        return self._wire.want(Request(method="DELETE", path=path, repeatable=True)).body

    def sign_in_link(self) -> str:
        """A link that opens the web page as this identity, once, within two minutes."""
        with self._wire.reading("/sign-in-links"):
            return self._wire.url + str(self._wire.post("/sign-in-links", {})["path"])

    def health(self) -> dict[str, Any]:
        """`GET /healthz`."""
        return self._wire.get("/healthz")

    def ready(self) -> dict[str, Any]:
        """`GET /readyz`; raises `Refused` while the daemon is not ready."""
        return self._wire.get("/readyz")

    def condition(self) -> dict[str, Any]:
        """`GET /health`: what is around the programs that the daemon runs; for operators and viewers."""
        return self._wire.get("/health")
