"""What any agent's command line tells while it works: frozen events, the same ones for every CLI (A-01).

Whatever a CLI does not report is None and never a zero (A-02). Texts are the agent's or a program's words:
untrusted, and free of lone surrogates.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from harvester.adapters.failure import Failure
from harvester.adapters.usage import Spent


@dataclass(frozen=True, slots=True)
class AgentEvent:
    """Root. `kind` is the event's name on the wire."""

    kind: ClassVar[str]

    def payload(self) -> dict[str, Any]:
        """The fields as JSON; the unknown ones are left out."""
        return {name: value for name, value in asdict(self).items() if value is not None}


@dataclass(frozen=True, slots=True)
class SessionStarted(AgentEvent):
    """The CLI names its session; some do so again with each turn."""

    kind = "session_started"
    session: str
    model: str | None = None


@dataclass(frozen=True, slots=True)
class Text(AgentEvent):
    """Words of the agent, whole. Pieces that share `message` are one message."""

    kind = "text"
    text: str
    message: str | None = None


@dataclass(frozen=True, slots=True)
class TextDelta(AgentEvent):
    """The next piece of words. A CLI that also sends the whole sends the same words twice (A-03)."""

    kind = "text_delta"
    text: str


@dataclass(frozen=True, slots=True)
class Thinking(AgentEvent):
    """Reasoning, whole or in pieces; never harvested (A-07)."""

    kind = "thinking"
    text: str


@dataclass(frozen=True, slots=True)
class ToolCall(AgentEvent):
    """The agent uses one of its own tools. `call` pairs it with its result."""

    kind = "tool_call"
    tool: str
    call: str | None = None
    arguments: Any = None


@dataclass(frozen=True, slots=True)
class ToolResult(AgentEvent):
    """What a tool came to; `ok` is None where the CLI does not say."""

    kind = "tool_result"
    call: str | None
    ok: bool | None
    text: str | None = None
    tool: str | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One line of a plan."""

    text: str
    done: bool


@dataclass(frozen=True, slots=True)
class Plan(AgentEvent):
    """The agent's list of steps as it stands now."""

    kind = "plan"
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Retry(AgentEvent):
    """The CLI tries a request again by itself."""

    kind = "retry"
    message: str
    attempt: int | None = None
    delay_ms: int | None = None


@dataclass(frozen=True, slots=True)
class RateLimit(AgentEvent):
    """How much of an allowance is used; `resets_at` in seconds since 1970."""

    kind = "rate_limit"
    status: str
    used: float | None = None
    resets_at: int | None = None


@dataclass(frozen=True, slots=True)
class PermissionDenied(AgentEvent):
    """The CLI did not let the agent use a tool."""

    kind = "permission_denied"
    tool: str


@dataclass(frozen=True, slots=True)
class Subagent(AgentEvent):
    """What a sub-agent does or says; never harvested (A-07)."""

    kind = "subagent"
    agent: str
    text: str | None = None


@dataclass(frozen=True, slots=True)
class CostUpdate(AgentEvent):
    """Tokens and money. `running`: a total so far, which replaces; else an amount to add (A-03)."""

    kind = "cost_update"
    spent: Spent
    running: bool = False

    def payload(self) -> dict[str, Any]:
        """The amounts that are known; a total of dollars is named as one."""
        known = {name: value for name, value in self.spent.to_json().items() if value is not None}
        if self.running and "cost_usd" in known:
            known["total_cost_usd"] = known.pop("cost_usd")
        return known | {"running": self.running}


@dataclass(frozen=True, slots=True)
class Warned(AgentEvent):
    """Something went wrong and the agent goes on."""

    kind = "warning"
    message: str


@dataclass(frozen=True, slots=True)
class Failed(AgentEvent):
    """An error. `fatal`: the turn has failed even if its end is reported as a good one."""

    kind = "error"
    failure: Failure
    fatal: bool


@dataclass(frozen=True, slots=True)
class TurnEnd(AgentEvent):
    """The stream's own verdict on a turn. `text`: the final words where the CLI repeats them here."""

    kind = "turn_end"
    reason: str
    text: str | None = None
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class Ready(AgentEvent):
    """An agent that speaks our own envelope introduces itself (J-27)."""

    kind = "ready"
    protocol: str
    capabilities: tuple[str, ...] = ()

    def payload(self) -> dict[str, Any]:
        """The names that J-27 gives the fields."""
        return {"protocolVersion": self.protocol, "capabilities": list(self.capabilities)}


@dataclass(frozen=True, slots=True)
class Output(AgentEvent):
    """A line that says nothing to us, kept as it came. `structured`: a JSON object all the same (J-26)."""

    kind = "output"
    text: str
    structured: bool = False
