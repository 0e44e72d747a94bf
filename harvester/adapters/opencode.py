"""opencode: `opencode run --format json`.

Tokens and cost stand in the part of each `step_finish`, one step at a time. A step that ends for another
reason than tool calls ends the turn; `done` comes with new versions only. A permission that nobody can
give is refused with a line that is no JSON.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from harvester.adapters.adapter import Adapter, Resume, json_lines, silent
from harvester.adapters.events import (
    AgentEvent,
    CostUpdate,
    Failed,
    SessionStarted,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    TurnEnd,
)
from harvester.adapters.failure import FailureKind, failure
from harvester.adapters.fields import Json, amount, count, part, text, truth, words
from harvester.adapters.usage import Spent

# What a step may end with besides `stop` and `tool-calls`; another word is a failure of no known kind.
_REASONS: Final = {"length": FailureKind.LIMIT, "content-filter": FailureKind.INPUT}


def _session(line: Json) -> Iterator[AgentEvent]:
    if found := text(line.get("sessionID")):
        yield SessionStarted(found)


def _text(line: Json) -> Iterator[AgentEvent]:
    yield Text(words(part(line, "part").get("text")))


def _reasoning(line: Json) -> Iterator[AgentEvent]:
    yield Thinking(words(part(line, "part").get("text")))


def _tool(line: Json) -> Iterator[AgentEvent]:
    """One line for the call and its result."""
    used = part(line, "part")
    state, tool, call = part(used, "state"), words(used.get("tool")), text(used.get("callID"))
    yield ToolCall(tool, call, state.get("input"))
    said = text(state.get("output")) or text(state.get("error"))
    yield ToolResult(call, state.get("status") == "completed", said, tool)


def _spent(step: Json) -> Spent:
    tokens = part(step, "tokens")
    cache = part(tokens, "cache")
    return Spent(
        input_tokens=count(tokens.get("input")),
        output_tokens=count(tokens.get("output")),
        cache_read_tokens=count(cache.get("read")),
        cache_write_tokens=count(cache.get("write")),
        reasoning_tokens=count(tokens.get("reasoning")),
        cost_usd=amount(step.get("cost")),
    )


def _step_finish(line: Json) -> Iterator[AgentEvent]:
    step = part(line, "part")
    yield CostUpdate(_spent(step))
    reason = words(step.get("reason"))
    if reason == "stop":
        yield TurnEnd(reason)
    elif reason != "tool-calls":
        yield TurnEnd(reason, failure=failure(f"the step ended: {reason}", _REASONS.get(reason)))


def _error(line: Json) -> Iterator[AgentEvent]:
    wrong = part(line, "error")
    more = part(wrong, "data")
    said = words(more.get("message")) or words(wrong.get("name"))
    again = truth(more.get("isRetryable"))
    yield Failed(failure(said, status=count(more.get("statusCode")), retryable=again), fatal=True)


OPENCODE: Final = Adapter(
    name="opencode",
    command="opencode run --format json",
    read=json_lines(
        {
            "step_start": _session,
            "text": _text,
            "reasoning": _reasoning,
            "tool_use": _tool,
            "step_finish": _step_finish,
            "error": _error,
            "done": silent,
        }
    ),
    resume=Resume(words=("-s", "{}")),
)
