"""Cursor: `cursor-agent -p --output-format stream-json`.

It reports no usage. A run that fails has no result line: the exit code and stderr are all there is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from harvester.adapters import blocks
from harvester.adapters.adapter import Adapter, Resume, by, json_lines, silent
from harvester.adapters.events import AgentEvent, CostUpdate, Thinking, ToolCall, ToolResult
from harvester.adapters.failure import Failure, failure
from harvester.adapters.fields import Json, part, text, words
from harvester.adapters.usage import Spent

_SUFFIX: Final = "ToolCall"


def _thinking(line: Json) -> Iterator[AgentEvent]:
    yield Thinking(words(line.get("text")))


def _tool(line: Json) -> tuple[str, Json]:
    """The call is the one object under a key that ends in `ToolCall`."""
    calls = part(line, "tool_call")
    key = next((name for name in calls if name.endswith(_SUFFIX)), "")
    return words(key.removesuffix(_SUFFIX)), part(calls, key)


def _started(line: Json) -> Iterator[AgentEvent]:
    tool, call = _tool(line)
    yield ToolCall(tool, text(line.get("call_id")), call.get("args"))


def _completed(line: Json) -> Iterator[AgentEvent]:
    tool, call = _tool(line)
    result = part(call, "result")
    said = text(part(result, "success").get("content"))
    yield ToolResult(text(line.get("call_id")), "success" in result if result else None, said, tool)


def _no_cost(_line: Json) -> CostUpdate:
    return CostUpdate(Spent())


def _why(line: Json, reason: str) -> Failure:
    return failure(words(line.get("result")) or reason)


CURSOR: Final = Adapter(
    name="cursor",
    command="cursor-agent -p --output-format stream-json",
    read=json_lines(
        {
            "system": by("subtype", {"init": blocks.session}),
            "user": silent,
            "thinking": by("subtype", {"delta": _thinking, "completed": silent}),
            "assistant": blocks.message,
            "tool_call": by("subtype", {"started": _started, "completed": _completed}),
            "result": blocks.result(_no_cost, _why),
        }
    ),
    resume=Resume(words=("--resume", "{}")),
)
