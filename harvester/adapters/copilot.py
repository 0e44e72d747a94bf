"""GitHub Copilot CLI: `copilot -p … --output-format json`.

Its `cost` counts premium requests, which are no dollars. `session.idle` follows an error too: the turn has
failed even though words were said before.
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
    Subagent,
    Text,
    TextDelta,
    Thinking,
    ToolCall,
    ToolResult,
    TurnEnd,
    Warned,
)
from harvester.adapters.failure import FailureKind, failure
from harvester.adapters.fields import Json, count, part, text, truth, words
from harvester.adapters.usage import Spent

_ERRORS: Final = {
    "quota": FailureKind.QUOTA,
    "rate_limit": FailureKind.THROTTLE,
    "authentication": FailureKind.AUTH,
    "authorization": FailureKind.AUTH,
}


def _session(line: Json) -> Iterator[AgentEvent]:
    yield SessionStarted(words(part(line, "data").get("sessionId")))


def _message(line: Json) -> Iterator[AgentEvent]:
    """Messages that only ask for tools have no content."""
    said = part(line, "data")
    content, parent = words(said.get("content")), text(said.get("parentToolCallId"))
    if content and parent:
        yield Subagent(parent, content)
    elif content:
        yield Text(content, text(said.get("messageId")))


def _message_delta(line: Json) -> Iterator[AgentEvent]:
    said = part(line, "data")
    if not said.get("parentToolCallId"):
        yield TextDelta(words(said.get("deltaContent")))


def _reasoning(line: Json) -> Iterator[AgentEvent]:
    said = part(line, "data")
    yield Thinking(words(said.get("content")) or words(said.get("deltaContent")))


def _tool_start(line: Json) -> Iterator[AgentEvent]:
    used = part(line, "data")
    yield ToolCall(words(used.get("toolName")), text(used.get("toolCallId")), used.get("arguments"))


def _tool_complete(line: Json) -> Iterator[AgentEvent]:
    used = part(line, "data")
    said = text(part(used, "result").get("content")) or text(part(used, "error").get("message"))
    yield ToolResult(text(used.get("toolCallId")), truth(used.get("success")), said)


def _spent(used: Json) -> Spent:
    return Spent(
        input_tokens=count(used.get("inputTokens")),
        output_tokens=count(used.get("outputTokens")),
        cache_read_tokens=count(used.get("cacheReadTokens")),
        cache_write_tokens=count(used.get("cacheWriteTokens")),
    )


def _usage(line: Json) -> Iterator[AgentEvent]:
    yield CostUpdate(_spent(part(line, "data")))


def _shutdown(line: Json) -> Iterator[AgentEvent]:
    """The session's totals, for those who did not get the ephemeral usage lines."""
    total, models = Spent(), part(line, "data", "modelMetrics")
    for name in models:
        total = total.plus(_spent(part(models, name, "usage")))
    yield CostUpdate(total, running=True)


def _warning(line: Json) -> Iterator[AgentEvent]:
    yield Warned(words(part(line, "data").get("message")))


def _error(line: Json) -> Iterator[AgentEvent]:
    wrong = part(line, "data")
    said, kind = words(wrong.get("message")), _ERRORS.get(words(wrong.get("errorType")))
    yield Failed(failure(said, kind, status=count(wrong.get("statusCode"))), fatal=True)


def _idle(line: Json) -> Iterator[AgentEvent]:
    aborted = part(line, "data").get("aborted") is True
    stopped = failure("the session was aborted", FailureKind.CANCELLED) if aborted else None
    yield TurnEnd("aborted" if aborted else "idle", failure=stopped)


COPILOT: Final = Adapter(
    name="copilot",
    command="copilot -p PROMPT --output-format json",
    read=json_lines(
        {
            "session.start": _session,
            "session.resume": _session,
            "assistant.message": _message,
            "assistant.message_delta": _message_delta,
            "assistant.reasoning": _reasoning,
            "assistant.reasoning_delta": _reasoning,
            "tool.execution_start": _tool_start,
            "tool.execution_complete": _tool_complete,
            "assistant.usage": _usage,
            "session.warning": _warning,
            "session.error": _error,
            "session.idle": _idle,
            "session.shutdown": _shutdown,
        }
        | dict.fromkeys(("user.message", "assistant.turn_start", "assistant.turn_end"), silent)
    ),
    resume=Resume(words=("--resume", "{}")),
)
