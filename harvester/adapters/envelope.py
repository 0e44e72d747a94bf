"""Agents that speak our own envelope: JSON Lines `{"type":"event","event":…,"payload":{…}}` (J-03, J-27).

New agents have to: the first line is `ready` with `protocolVersion` and `capabilities`, within ten seconds.
The other events are those of `harvester.adapters.events` by their kinds, and the three of our JSON Lines
protocol that say the same: `agent_output`, `agent_end`, `task_error` (J-22).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from harvester.adapters.adapter import Adapter, Table, json_lines
from harvester.adapters.events import (
    AgentEvent,
    CostUpdate,
    Failed,
    Output,
    PermissionDenied,
    Plan,
    RateLimit,
    Ready,
    Retry,
    SessionStarted,
    Step,
    Subagent,
    Text,
    TextDelta,
    Thinking,
    ToolCall,
    ToolResult,
    TurnEnd,
    Warned,
)
from harvester.adapters.failure import Failure, FailureKind, failure
from harvester.adapters.fields import Json, amount, count, part, parts, text, truth, words
from harvester.adapters.usage import Spent

_KINDS: Final = {kind.value: kind for kind in FailureKind}


def _ready(said: Json) -> Iterator[AgentEvent]:
    able = said.get("capabilities")
    yield Ready(words(said.get("protocolVersion")), tuple(map(words, able)) if isinstance(able, list) else ())
    if session := text(said.get("session")):
        yield SessionStarted(session)


def _session_started(said: Json) -> Iterator[AgentEvent]:
    yield SessionStarted(words(said.get("session")), text(said.get("model")))


def _text(said: Json) -> Iterator[AgentEvent]:
    yield Text(words(said.get("text")), text(said.get("message")))


def _text_delta(said: Json) -> Iterator[AgentEvent]:
    yield TextDelta(words(said.get("text")))


def _agent_output(said: Json) -> Iterator[AgentEvent]:
    yield TextDelta(words(said.get("chunk")))


def _thinking(said: Json) -> Iterator[AgentEvent]:
    yield Thinking(words(said.get("text")))


def _tool_call(said: Json) -> Iterator[AgentEvent]:
    yield ToolCall(words(said.get("tool")), text(said.get("call")), said.get("arguments"))


def _tool_result(said: Json) -> Iterator[AgentEvent]:
    ok, tool = truth(said.get("ok")), text(said.get("tool"))
    yield ToolResult(text(said.get("call")), ok, text(said.get("text")), tool)


def _plan(said: Json) -> Iterator[AgentEvent]:
    yield Plan(
        tuple(Step(words(one.get("text")), one.get("done") is True) for one in parts(said.get("steps")))
    )


def _retry(said: Json) -> Iterator[AgentEvent]:
    yield Retry(words(said.get("message")), count(said.get("attempt")), count(said.get("delay_ms")))


def _rate_limit(said: Json) -> Iterator[AgentEvent]:
    yield RateLimit(words(said.get("status")), amount(said.get("used")), count(said.get("resets_at")))


def _permission_denied(said: Json) -> Iterator[AgentEvent]:
    yield PermissionDenied(words(said.get("tool")))


def _subagent(said: Json) -> Iterator[AgentEvent]:
    yield Subagent(words(said.get("agent")), text(said.get("text")))


def _warning(said: Json) -> Iterator[AgentEvent]:
    yield Warned(words(said.get("message")))


def _output(said: Json) -> Iterator[AgentEvent]:
    yield Output(words(said.get("text")), said.get("structured") is True)


def _spent(said: Json, cost: str) -> Spent:
    return Spent(
        input_tokens=count(said.get("input_tokens")),
        output_tokens=count(said.get("output_tokens")),
        cache_read_tokens=count(said.get("cache_read_tokens")),
        cache_write_tokens=count(said.get("cache_write_tokens")),
        reasoning_tokens=count(said.get("reasoning_tokens")),
        cost_usd=amount(said.get(cost)),
    )


def _cost_update(said: Json) -> Iterator[AgentEvent]:
    """Totals so far, unless it says otherwise."""
    running = said.get("running") is not False
    yield CostUpdate(_spent(said, "total_cost_usd" if running else "cost_usd"), running)


def _why(said: Json) -> Failure | None:
    """A kind that nobody knows yet is found by the words."""
    wrong = part(said, "failure")
    kind, status = _KINDS.get(words(wrong.get("kind"))), count(wrong.get("status"))
    known = failure(words(wrong.get("message")), kind, status=status, retryable=truth(wrong.get("retryable")))
    return known if wrong else None


def _error(said: Json) -> Iterator[AgentEvent]:
    yield Failed(_why(said) or failure(""), fatal=said.get("fatal") is True)


def _task_error(said: Json) -> Iterator[AgentEvent]:
    message = words(said.get("message")) or words(said.get("code"))
    yield Failed(failure(message, retryable=truth(said.get("retryable"))), fatal=True)


def _turn_end(said: Json) -> Iterator[AgentEvent]:
    yield TurnEnd(words(said.get("reason")), text(said.get("text")), _why(said))


def _agent_end(said: Json) -> Iterator[AgentEvent]:
    yield CostUpdate(_spent(part(said, "usage"), "total_cost_usd"), running=True)
    yield TurnEnd("completed", text(said.get("text")) or None)


_EVENTS: Final[Table] = {
    "ready": _ready,
    "session_started": _session_started,
    "text": _text,
    "text_delta": _text_delta,
    "thinking": _thinking,
    "tool_call": _tool_call,
    "tool_result": _tool_result,
    "plan": _plan,
    "retry": _retry,
    "rate_limit": _rate_limit,
    "permission_denied": _permission_denied,
    "subagent": _subagent,
    "cost_update": _cost_update,
    "warning": _warning,
    "error": _error,
    "turn_end": _turn_end,
    "output": _output,
    "agent_output": _agent_output,
    "agent_end": _agent_end,
    "task_error": _task_error,
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
