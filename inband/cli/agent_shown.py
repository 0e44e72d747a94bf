"""How `box agent` shows events and outcomes: a line for a person, or JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import click

from harvester.adapters import AgentEvent, Outcome, Spent, Status
from messaging import strip_terminal

_MOST_CHARS: Final = 160
_COLOURS: Final = {Status.SUCCESS: "green", Status.EMPTY_SUCCESS: "yellow", Status.FAILED: "red"}
_OK: Final = {True: "ok", False: "failed", None: ""}

# What the line about an event says; all others say their text or message.
_SAID: Final[Mapping[str, Callable[[Mapping[str, Any]], str]]] = {
    "session_started": lambda event: event["session"],
    "tool_call": lambda event: f"{event['tool']} {json.dumps(event.get('arguments', {}))}",
    "tool_result": lambda event: f"{_OK[event.get('ok')]} {event.get('text', '')}",
    "plan": lambda event: ", ".join(
        f"{'done' if step['done'] else 'open'}: {step['text']}" for step in event["steps"]
    ),
    "error": lambda event: f"{event['failure']['kind']}: {event['failure']['message']}",
    "turn_end": lambda event: event["reason"],
    "cost_update": lambda event: spent_line(
        Spent(**{name: event[name] for name in event if name != "running"})
    ),
    "permission_denied": lambda event: event["tool"],
    "rate_limit": lambda event: event["status"],
}


def _plainly(event: Mapping[str, Any]) -> str:
    return str(event.get("text") or event.get("message") or "")


def as_line(event: AgentEvent) -> str:
    """One line for a person, cut; what a program printed keeps none of its control codes."""
    said = _SAID.get(event.kind, _plainly)(event.payload())
    flat = " ".join(strip_terminal(said[: 10 * _MOST_CHARS]).split())
    cut = flat if len(flat) <= _MOST_CHARS else f"{flat[: _MOST_CHARS - 1]}…"
    return click.style(f"{event.kind:<17}", dim=True) + cut


def as_json_line(event: AgentEvent) -> str:
    """`{"event":…,"payload":{…}}`, the shape of an event in our JSON Lines protocol (J-03)."""
    return json_line(event.kind, event.payload())


def json_line(name: str, payload: Mapping[str, Any]) -> str:
    """One event as one line; pure ASCII, so that no terminal and no torn code point can spoil it."""
    return json.dumps({"event": name, "payload": payload})


def lagged_line(count: int) -> str:
    """Said to a reader that was too slow, instead of the events it missed (J-32)."""
    return json_line("lagged", {"events": count})


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
