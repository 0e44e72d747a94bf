"""Lines in the manner of Claude Code, which Amp, Qwen and Cursor write too: messages made of blocks.

Each adapter takes the rules that its CLI shares; where they differ it has its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from harvester.adapters.adapter import Rule
from harvester.adapters.events import (
    AgentEvent,
    CostUpdate,
    PermissionDenied,
    SessionStarted,
    Subagent,
    Text,
    TextDelta,
    Thinking,
    ToolCall,
    ToolResult,
    TurnEnd,
)
from harvester.adapters.failure import Failure
from harvester.adapters.fields import Json, amount, count, part, parts, text, texts_of, truth, words
from harvester.adapters.usage import Spent


def session(line: Json) -> Iterator[AgentEvent]:
    """`system/init`."""
    if found := text(line.get("session_id")):
        yield SessionStarted(found, text(line.get("model")))


def message(line: Json) -> Iterable[AgentEvent]:
    """An assistant's or user's message; one with `parent_tool_use_id` is a sub-agent's (A-07)."""
    said = part(line, "message")
    if parent := text(line.get("parent_tool_use_id")):
        return (Subagent(parent, texts_of(said.get("content"))),)
    return _blocks(said)


def _blocks(said: Json) -> Iterator[AgentEvent]:
    content, key = said.get("content"), text(said.get("id"))
    from_user = said.get("role") == "user"
    if isinstance(content, str) and not from_user:
        yield Text(words(content), key)
    for block in parts(content):
        name = block.get("type")
        if name == "text" and not from_user:  # the user's own words are an echo of the prompt
            yield Text(words(block.get("text")), key)
        elif isinstance(name, str) and name in _BLOCKS:
            yield _BLOCKS[name](block)


def _thinking(block: Json) -> AgentEvent:
    return Thinking(words(block.get("thinking")))


def _tool_use(block: Json) -> AgentEvent:
    return ToolCall(words(block.get("name")), text(block.get("id")), block.get("input"))


def _tool_result(block: Json) -> AgentEvent:
    failed = truth(block.get("is_error"))
    said = texts_of(block.get("content"))
    return ToolResult(text(block.get("tool_use_id")), None if failed is None else not failed, said)


_BLOCKS: Final[dict[str, Callable[[Json], AgentEvent]]] = {
    "thinking": _thinking,
    "tool_use": _tool_use,
    "server_tool_use": _tool_use,
    "tool_result": _tool_result,
}


def delta(line: Json) -> Iterator[AgentEvent]:
    """`stream_event`: pieces of what an assistant line then says whole."""
    piece = part(line, "event", "delta")
    parent = text(line.get("parent_tool_use_id"))
    said = text(piece.get("text"))
    if said and parent:
        yield Subagent(parent, said)
    elif said:
        yield TextDelta(said)
    elif (thought := text(piece.get("thinking"))) and not parent:
        yield Thinking(thought)


def tokens(usage: Json, cost_usd: float | None = None) -> Spent:
    """A `usage` object with Anthropic's names."""
    return Spent(
        input_tokens=count(usage.get("input_tokens")),
        output_tokens=count(usage.get("output_tokens")),
        cache_read_tokens=count(usage.get("cache_read_input_tokens")),
        cache_write_tokens=count(usage.get("cache_creation_input_tokens")),
        cost_usd=cost_usd,
    )


def result(spent: Callable[[Json], CostUpdate], why: Callable[[Json, str], Failure]) -> Rule:
    """The rule for `result` lines, given how this CLI reports costs and what it says of a failure.

    `is_error` decides: a turn that the provider broke off has the subtype "success" all the same.
    """

    def rule(line: Json) -> Iterator[AgentEvent]:
        yield spent(line)
        yield from map(_denied, _list(line.get("permission_denials")))
        subtype = text(line.get("subtype")) or "unknown"
        failed = truth(line.get("is_error"))
        if subtype != "success" if failed is None else failed:
            reason = subtype if subtype != "success" else text(line.get("terminal_reason")) or "error"
            yield TurnEnd(reason, failure=why(line, reason))
        else:
            yield TurnEnd(subtype, text(line.get("result")) or None)

    return rule


def turn_cost(line: Json) -> CostUpdate:
    """What one turn used, where the CLI counts each turn by itself."""
    return CostUpdate(tokens(part(line, "usage"), amount(line.get("total_cost_usd"))))


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _denied(denial: Any) -> AgentEvent:
    """Claude writes objects, Amp the tool's name."""
    return PermissionDenied(words(denial) or words(part(denial).get("tool_name")))
