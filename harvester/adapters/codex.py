"""Codex: `codex exec --json`. It reports tokens and no cost.

An `error` line may be followed by another attempt ("Reconnecting... 1/5"); only `turn.failed` says that
there is none. Without `--json` nothing of its output can be told apart: that is `unstructured`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from harvester.adapters.adapter import Adapter, Resume, Table, by, json_lines, silent
from harvester.adapters.events import (
    AgentEvent,
    CostUpdate,
    Failed,
    Plan,
    SessionStarted,
    Step,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    TurnEnd,
    Warned,
)
from harvester.adapters.failure import failure
from harvester.adapters.fields import Json, count, part, parts, text, texts_of, truth, words
from harvester.adapters.usage import Spent


def _session(line: Json) -> Iterator[AgentEvent]:
    yield SessionStarted(words(line.get("thread_id")))


def _message(item: Json) -> Iterator[AgentEvent]:
    yield Text(words(item.get("text")), text(item.get("id")))


def _reasoning(item: Json) -> Iterator[AgentEvent]:
    yield Thinking(words(item.get("text")))


def _warning(item: Json) -> Iterator[AgentEvent]:
    yield Warned(words(item.get("message")))


def _plan(item: Json) -> Iterator[AgentEvent]:
    yield Plan(
        tuple(
            Step(words(one.get("text")), bool(truth(one.get("completed"))))
            for one in parts(item.get("items"))
        )
    )


def _call(item: Json) -> Iterator[AgentEvent]:
    shown = {key: item[key] for key in ("command", "tool", "arguments", "query", "changes") if key in item}
    yield ToolCall(words(item.get("type")), text(item.get("id")), shown)


def _command(item: Json) -> Iterator[AgentEvent]:
    """A command that was given up has the status "completed" and no exit code."""
    code = count(item.get("exit_code"))
    ok = False if item.get("status") == "failed" else None if code is None else code == 0
    yield ToolResult(text(item.get("id")), ok, text(item.get("aggregated_output")), "command_execution")


def _tool(item: Json) -> Iterator[AgentEvent]:
    status = text(item.get("status"))
    said = texts_of(part(item, "result").get("content")) or text(item.get("query"))
    yield ToolResult(
        text(item.get("id")), status == "completed" if status else None, said, text(item.get("type"))
    )


_TOOLS: Final = ("command_execution", "mcp_tool_call", "file_change", "web_search")
_BEGUN: Final[Table] = {
    "todo_list": _plan,
    "agent_message": silent,
    "reasoning": silent,
    "error": silent,
} | dict.fromkeys(_TOOLS, _call)
_DONE: Final[Table] = (
    {
        "agent_message": _message,
        "reasoning": _reasoning,
        "error": _warning,
        "todo_list": _plan,
    }
    | dict.fromkeys(_TOOLS, _tool)
    | {"command_execution": _command}
)


def _turn_completed(line: Json) -> Iterator[AgentEvent]:
    used = part(line, "usage")
    yield CostUpdate(
        Spent(
            input_tokens=count(used.get("input_tokens")),
            output_tokens=count(used.get("output_tokens")),
            cache_read_tokens=count(used.get("cached_input_tokens")),
            cache_write_tokens=count(used.get("cache_write_input_tokens")),
            reasoning_tokens=count(used.get("reasoning_output_tokens")),
        )
    )
    yield TurnEnd("completed")


def _turn_failed(line: Json) -> Iterator[AgentEvent]:
    yield TurnEnd("failed", failure=failure(words(part(line, "error").get("message"))))


def _error(line: Json) -> Iterator[AgentEvent]:
    yield Failed(failure(words(line.get("message"))), fatal=False)


CODEX: Final = Adapter(
    name="codex",
    command="codex exec --json",
    read=json_lines(
        {
            "thread.started": _session,
            "turn.started": silent,
            "item.started": by("type", _BEGUN, inside="item"),
            "item.updated": by("type", {"todo_list": _plan} | dict.fromkeys(_TOOLS, silent), inside="item"),
            "item.completed": by("type", _DONE, inside="item"),
            "error": _error,
            "turn.completed": _turn_completed,
            "turn.failed": _turn_failed,
        }
    ),
    resume=Resume(words=("resume", "{}"), behind="exec"),
)
