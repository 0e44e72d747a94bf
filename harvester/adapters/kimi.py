"""Kimi CLI: `kimi --print -c … --output-format=stream-json`.

Chat messages, told apart by `role`. No session, no usage, no end: the exit code alone says how it went.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from harvester.adapters.adapter import Adapter, Resume, json_lines, silent
from harvester.adapters.events import AgentEvent, Text, ToolCall, ToolResult
from harvester.adapters.fields import Json, part, parts, text, texts_of, words


def _assistant(line: Json) -> Iterator[AgentEvent]:
    if said := texts_of(line.get("content")):
        yield Text(said)
    for call in parts(line.get("tool_calls")):
        function = part(call, "function")
        yield ToolCall(words(function.get("name")), text(call.get("id")), function.get("arguments"))


def _tool(line: Json) -> Iterator[AgentEvent]:
    yield ToolResult(text(line.get("tool_call_id")), None, texts_of(line.get("content")))


KIMI: Final = Adapter(
    name="kimi",
    command="kimi --print -c PROMPT --output-format=stream-json",
    read=json_lines({"assistant": _assistant, "tool": _tool, "user": silent, "system": silent}, key="role"),
    ends_turns=False,
    resume=Resume(words=("--session", "{}")),
)
