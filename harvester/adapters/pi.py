"""pi: `pi --mode json`.

Each assistant message comes several times (start, updates, end, end of turn, end of agent); only its
`message_end` is counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from harvester.adapters.adapter import Adapter, Resume, by, json_lines, silent
from harvester.adapters.events import (
    AgentEvent,
    CostUpdate,
    Failed,
    Retry,
    SessionStarted,
    Text,
    TextDelta,
    Thinking,
    ToolCall,
    ToolResult,
    TurnEnd,
    Warned,
)
from harvester.adapters.failure import FailureKind, failure
from harvester.adapters.fields import Json, amount, count, part, parts, text, texts_of, truth, words
from harvester.adapters.usage import Spent

_STOPS: Final = {"length": FailureKind.LIMIT, "aborted": FailureKind.CANCELLED}


def _session(line: Json) -> Iterator[AgentEvent]:
    yield SessionStarted(words(line.get("id")))


def _text_delta(piece: Json) -> Iterator[AgentEvent]:
    yield TextDelta(words(piece.get("delta")))


def _thinking_delta(piece: Json) -> Iterator[AgentEvent]:
    yield Thinking(words(piece.get("delta")))


def _assistant(message: Json) -> Iterator[AgentEvent]:
    if said := texts_of(message.get("content")):
        yield Text(said, text(message.get("responseId")))
    used = part(message, "usage")
    yield CostUpdate(
        Spent(
            input_tokens=count(used.get("input")),
            output_tokens=count(used.get("output")),
            cache_read_tokens=count(used.get("cacheRead")),
            cache_write_tokens=count(used.get("cacheWrite")),
            cost_usd=amount(part(used, "cost").get("total")),
        )
    )


def _tool_start(line: Json) -> Iterator[AgentEvent]:
    yield ToolCall(words(line.get("toolName")), text(line.get("toolCallId")), line.get("args"))


def _tool_end(line: Json) -> Iterator[AgentEvent]:
    failed = truth(line.get("isError"))
    ok, said = None if failed is None else not failed, texts_of(part(line, "result").get("content"))
    yield ToolResult(text(line.get("toolCallId")), ok, said, text(line.get("toolName")))


def _retry_start(line: Json) -> Iterator[AgentEvent]:
    yield Retry(words(line.get("errorMessage")), count(line.get("attempt")), count(line.get("delayMs")))


def _retry_end(line: Json) -> Iterator[AgentEvent]:
    if line.get("success") is False:
        yield Failed(failure(words(line.get("finalError"))), fatal=True)


def _extension_error(line: Json) -> Iterator[AgentEvent]:
    yield Warned(words(line.get("error")))


def _agent_end(line: Json) -> Iterator[AgentEvent]:
    """The last assistant message says how the turn ended."""
    said = [one for one in parts(line.get("messages")) if one.get("role") == "assistant"]
    last = said[-1] if said else {}
    reason = words(last.get("stopReason")) or "no_reply"
    if reason == "stop":
        yield TurnEnd(reason, texts_of(last.get("content")) or None)
    else:
        yield TurnEnd(reason, failure=failure(words(last.get("errorMessage")) or reason, _STOPS.get(reason)))


PI: Final = Adapter(
    name="pi",
    command="pi --mode json",
    read=json_lines(
        {
            "session": _session,
            "message_update": by(
                "type",
                {"text_delta": _text_delta, "thinking_delta": _thinking_delta},
                inside="assistantMessageEvent",
            ),
            "message_end": by("role", {"assistant": _assistant}, inside="message"),
            "tool_execution_start": _tool_start,
            "tool_execution_end": _tool_end,
            "auto_retry_start": _retry_start,
            "auto_retry_end": _retry_end,
            "extension_error": _extension_error,
            "agent_end": _agent_end,
        }
        | dict.fromkeys(("agent_start", "turn_start", "turn_end", "message_start"), silent)
        | {"tool_execution_update": silent}
    ),
    resume=Resume(words=("--session", "{}")),
)
