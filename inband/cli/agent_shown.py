"""How `box agent` shows events and outcomes: a line for a person, or JSON."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final

import click

from harvester.adapters import AgentEvent, Outcome, Spent, Status, frame
from harvester.adapters.events import (
    CostUpdate,
    Failed,
    PermissionDenied,
    Plan,
    RateLimit,
    Ready,
    SessionStarted,
    ToolCall,
    ToolResult,
    TurnEnd,
)
from messaging import strip_terminal

_MOST_CHARS: Final = 160
_COLOURS: Final = {Status.SUCCESS: "green", Status.EMPTY_SUCCESS: "yellow", Status.FAILED: "red"}
_OK: Final = {True: "ok", False: "failed", None: ""}

# What the line about an event says; all others say their text or message.
_SAID: Final[Mapping[type[AgentEvent], Callable[[Any], str]]] = {
    Ready: lambda event: f"protocol {event.protocol}",
    SessionStarted: lambda event: event.session,
    ToolCall: lambda event: f"{event.tool} {json.dumps(event.arguments)}",
    ToolResult: lambda event: f"{_OK[event.ok]} {event.text or ''}",
    Plan: lambda event: ", ".join(f"{'done' if step.done else 'open'}: {step.text}" for step in event.steps),
    Failed: lambda event: f"{event.failure.kind}: {event.failure.message}",
    TurnEnd: lambda event: event.reason,
    CostUpdate: lambda event: spent_line(event.spent),
    PermissionDenied: lambda event: event.tool,
    RateLimit: lambda event: event.status,
}


def _plainly(event: Any) -> str:
    return str(getattr(event, "text", None) or getattr(event, "message", ""))


def as_line(event: AgentEvent) -> str:
    """One line for a person, cut; what a program printed keeps none of its control codes."""
    said = _SAID.get(type(event), _plainly)(event)
    flat = " ".join(strip_terminal(said[: 10 * _MOST_CHARS]).split())
    cut = flat if len(flat) <= _MOST_CHARS else f"{flat[: _MOST_CHARS - 1]}…"
    return click.style(f"{event.kind:<17}", dim=True) + cut


def lagged_line(first: int, last: int) -> str:
    """Said to a person whose terminal was too slow."""
    return click.style(f"{'lagged':<17}", dim=True) + f"{last - first + 1} lines not shown"


class Frames:
    """Events as JSON Lines (J-03), numbered; pure ASCII, so that no torn code point can spoil a line."""

    def __init__(self, agent: str) -> None:
        self._agent = agent
        self._numbers = itertools.count()

    def line(self, event: AgentEvent) -> str:
        """One event."""
        return json.dumps(frame(event, agent=self._agent, ts=_now(), seq=next(self._numbers)))

    def lagged(self, first: int, last: int) -> str:
        """Said to a reader that was too slow, in place of what it missed (J-32)."""
        return self._ours("lagged", {"from": first, "to": last})

    def outcome(self, document: Mapping[str, Any]) -> str:
        """The last line."""
        return self._ours("outcome", document)

    def _ours(self, name: str, payload: Mapping[str, Any]) -> str:
        return json.dumps(
            {"type": "event", "event": name, "agent": self._agent, "ts": _now(), "payload": payload}
        )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def outcome_lines(outcome: Outcome, delivered: Mapping[str, Any]) -> Iterator[str]:
    """The final words, what the directives in them came to, and how the run ended."""
    if outcome.heard.text:
        yield strip_terminal(outcome.heard.text)
        yield ""
    if delivered.get("posted"):
        yield strip_terminal(delivered["posted"]["body"])
        yield ""
    why = f": {outcome.failure.kind}: {outcome.failure.message}" if outcome.failure else ""
    yield click.style(outcome.status.value, fg=_COLOURS[outcome.status]) + strip_terminal(why)
    yield from (f"warning: {strip_terminal(text)}" for text in outcome.warnings)
    yield f"session {outcome.heard.session or 'not reported'}, {spent_line(outcome.heard.spent)}"


def spent_line(spent: Spent) -> str:
    """Tokens and dollars; what was not reported is not said to be nothing (A-02)."""
    tokens = (
        ("in", spent.input_tokens),
        ("out", spent.output_tokens),
        ("from cache", spent.cache_read_tokens),
        ("into cache", spent.cache_write_tokens),
    )
    counted = ", ".join(f"{number:,} {name}" for name, number in tokens if number is not None)
    cost = "cost not reported" if spent.cost_usd is None else f"{spent.cost_usd:.4f} USD"
    return f"tokens: {counted or 'not reported'}; {cost}"
