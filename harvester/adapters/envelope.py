"""Agents that speak our own envelope: JSON Lines `{"type":"event","event":…,"payload":{…}}` (J-03, J-27).

New agents have to: the first line is `ready` with `protocolVersion` and `capabilities`, within ten seconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from harvester.adapters.adapter import Adapter, Table, json_lines
from harvester.adapters.events import (
    AgentEvent,
    CostUpdate,
    Failed,
    Ready,
    SessionStarted,
    Text,
    TextDelta,
    Thinking,
    ToolCall,
    ToolResult,
    TurnEnd,
    Warned,
)
from harvester.adapters.failure import failure
from harvester.adapters.fields import Json, amount, count, part, text, truth, words
from harvester.adapters.usage import Spent


def _ready(payload: Json) -> Iterator[AgentEvent]:
    able = payload.get("capabilities")
    names = tuple(map(words, able)) if isinstance(able, list) else ()
    yield Ready(words(payload.get("protocolVersion")), names)
    if session := text(payload.get("session")):
        yield SessionStarted(session)


def _text(payload: Json) -> Iterator[AgentEvent]:
    yield Text(words(payload.get("text")), text(payload.get("message")))


def _chunk(payload: Json) -> Iterator[AgentEvent]:
    yield TextDelta(words(payload.get("chunk")))


def _thinking(payload: Json) -> Iterator[AgentEvent]:
    yield Thinking(words(payload.get("text")))


def _tool_call(payload: Json) -> Iterator[AgentEvent]:
    yield ToolCall(words(payload.get("tool")), text(payload.get("call")), payload.get("arguments"))


def _tool_result(payload: Json) -> Iterator[AgentEvent]:
    yield ToolResult(text(payload.get("call")), truth(payload.get("ok")), text(payload.get("text")))


def _warning(payload: Json) -> Iterator[AgentEvent]:
    yield Warned(words(payload.get("message")))


def _cost(payload: Json) -> CostUpdate:
    """Totals so far."""
    spent = Spent(
        input_tokens=count(payload.get("input_tokens")),
        output_tokens=count(payload.get("output_tokens")),
        cache_read_tokens=count(payload.get("cache_read_tokens")),
        cache_write_tokens=count(payload.get("cache_write_tokens")),
        cost_usd=amount(payload.get("total_cost_usd")),
    )
    return CostUpdate(spent, running=True)


def _costs(payload: Json) -> Iterator[AgentEvent]:
    yield _cost(payload)


def _end(payload: Json) -> Iterator[AgentEvent]:
    usage = payload.get("usage")
    if isinstance(usage, dict):
        yield _cost(usage)
    yield TurnEnd("completed", text(payload.get("text")) or None)


def _error(payload: Json) -> Iterator[AgentEvent]:
    said = words(payload.get("message")) or words(payload.get("code"))
    yield Failed(failure(said, retryable=truth(payload.get("retryable"))), fatal=True)


_EVENTS: Final[Table] = {
    "ready": _ready,
    "text": _text,
    "agent_output": _chunk,
    "thinking": _thinking,
    "tool_call": _tool_call,
    "tool_result": _tool_result,
    "warning": _warning,
    "cost_update": _costs,
    "agent_end": _end,
    "task_error": _error,
}


def _event(line: Json) -> Iterable[AgentEvent] | None:
    rule = _EVENTS.get(words(line.get("event")))
    return None if rule is None else rule(part(line, "payload"))


ENVELOPE: Final = Adapter(
    name="envelope",
    command="any program that speaks the envelope; its first line is the event `ready`",
    read=json_lines({"event": _event}),
    introduces_itself=True,
)
