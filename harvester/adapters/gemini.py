"""Gemini CLI: `gemini -p … --output-format stream-json`.

Its result line has no text: the reply is what the assistant's pieces come to. It reports no cost, and
there are no cache writes to report.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from harvester.adapters.adapter import Adapter, Resume, by, json_lines, silent
from harvester.adapters.events import (
    AgentEvent,
    CostUpdate,
    Failed,
    SessionStarted,
    Text,
    TextDelta,
    ToolCall,
    ToolResult,
    TurnEnd,
    Warned,
)
from harvester.adapters.failure import FailureKind, failure
from harvester.adapters.fields import Json, count, part, text, words
from harvester.adapters.usage import Spent

# Its exit codes, and the names of the errors that lead to them.
_EXIT_CODES: Final = {
    41: FailureKind.AUTH,
    42: FailureKind.INPUT,
    44: FailureKind.CONFIG,
    52: FailureKind.CONFIG,
    53: FailureKind.LIMIT,
    54: FailureKind.TOOL,
    55: FailureKind.CONFIG,
    130: FailureKind.CANCELLED,
}
_ERRORS: Final = {
    "FatalAuthenticationError": FailureKind.AUTH,
    "FatalInputError": FailureKind.INPUT,
    "FatalSandboxError": FailureKind.CONFIG,
    "FatalConfigError": FailureKind.CONFIG,
    "FatalTurnLimitedError": FailureKind.LIMIT,
    "FatalToolExecutionError": FailureKind.TOOL,
    "FatalUntrustedWorkspaceError": FailureKind.CONFIG,
    "FatalCancellationError": FailureKind.CANCELLED,
}


def _session(line: Json) -> Iterator[AgentEvent]:
    yield SessionStarted(words(line.get("session_id")), text(line.get("model")))


def _said(line: Json) -> Iterator[AgentEvent]:
    said = words(line.get("content"))
    yield TextDelta(said) if line.get("delta") is True else Text(said)


def _tool_use(line: Json) -> Iterator[AgentEvent]:
    yield ToolCall(words(line.get("tool_name")), text(line.get("tool_id")), line.get("parameters"))


def _tool_result(line: Json) -> Iterator[AgentEvent]:
    said = text(line.get("output")) or text(part(line, "error").get("message"))
    yield ToolResult(text(line.get("tool_id")), line.get("status") == "success", said)


def _warning(line: Json) -> Iterator[AgentEvent]:
    yield Warned(words(line.get("message")))


def _error(line: Json) -> Iterator[AgentEvent]:
    yield Failed(failure(words(line.get("message"))), fatal=False)


def _spent(stats: Json) -> Spent:
    cached = count(stats.get("cached"))
    return Spent(
        input_tokens=count(stats.get("input_tokens")),
        output_tokens=count(stats.get("output_tokens")),
        cache_read_tokens=cached,
        cache_write_tokens=None if cached is None else 0,
    )


def _result(line: Json) -> Iterator[AgentEvent]:
    yield CostUpdate(_spent(part(line, "stats")))
    status, wrong = words(line.get("status")), part(line, "error")
    if status == "success":
        yield TurnEnd(status)
        return
    name = words(wrong.get("type"))
    yield TurnEnd(status or "error", failure=failure(words(wrong.get("message")) or name, _ERRORS.get(name)))


GEMINI: Final = Adapter(
    name="gemini",
    command="gemini -p PROMPT --output-format stream-json",
    read=json_lines(
        {
            "init": _session,
            "message": by("role", {"user": silent, "assistant": _said}),
            "tool_use": _tool_use,
            "tool_result": _tool_result,
            "error": by("severity", {"warning": _warning, "error": _error}),
            "result": _result,
        }
    ),
    exit_codes=_EXIT_CODES,
    resume=Resume(words=("--resume", "{}")),
)
