"""The op list in the forms that other programs read: function schemas, MCP tools, a Markdown page.

Sources: the function schema of chat completion APIs (a name of letters, digits, `_` and `-`, at most 64), and
`Tool` of the Model Context Protocol, revision 2025-06-18, with all four hints stated.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from messaging.ops import OpInfo

_NOT_IN_NAMES: Final = re.compile(r"[^A-Za-z0-9_-]")
_MOST_NAME_CHARS: Final = 64


def function_name(op: str) -> str:
    """`dm.send` as `dm_send`, a spelling that calls understand as well (GRAMMAR 5.1)."""
    return _NOT_IN_NAMES.sub("_", op)[:_MOST_NAME_CHARS]


def openai_tool(op: OpInfo) -> dict[str, Any]:
    """`{type: function, function: {name, description, parameters}}`."""
    function = {
        "name": function_name(op.name),
        "description": op.summary,
        "parameters": dict(op.args_schema),
    }
    return {"type": "function", "function": function}


def mcp_tool(op: OpInfo) -> dict[str, Any]:
    """`{name, description, inputSchema, annotations}`; what has side effects may destroy and reach out."""
    hints = {
        "readOnlyHint": not op.side_effecting,
        "destructiveHint": op.side_effecting,
        "idempotentHint": not op.side_effecting,
        "openWorldHint": op.side_effecting,
    }
    return {
        "name": op.name,
        "description": op.summary,
        "inputSchema": dict(op.args_schema),
        "annotations": hints,
    }


def kind(op: OpInfo) -> str:
    """The flag in words."""
    return "side effect" if op.side_effecting else "read-only"


def markdown_table(header: Sequence[str], rows: Iterable[Iterable[object]]) -> Iterator[str]:
    """A table and the blank line after it."""
    for row in (header, ["---"] * len(header), *rows):
        yield f"| {' | '.join(map(_cell, row))} |"
    yield ""


def _cell(value: object) -> str:
    return str(value).replace("|", "\\|").replace("\n", " ")


def markdown(ops: Sequence[OpInfo]) -> Iterator[str]:
    """Lines of a page: all ops in a table, then each with its arguments and an example."""
    linked = ((f"[`{op.name}`](#{op.name.replace('.', '')})", kind(op), op.summary) for op in ops)
    yield from markdown_table(("op", "kind", "what it does"), linked)
    for op in ops:
        yield from _section(op)


def _section(op: OpInfo) -> Iterator[str]:
    yield f"## {op.name}"
    yield ""
    aliases = ", ".join(f"`{alias}`" for alias in op.aliases) or "-"
    yield f"{op.summary} {kind(op).capitalize()}. Also called: {aliases}."
    yield ""
    properties: Mapping[str, Any] = op.args_schema.get("properties", {})
    rows = (
        (f"`{name}`", "yes" if name in op.required else "", schema.get("description", ""))
        for name, schema in properties.items()
    )
    yield from markdown_table(("argument", "required", "meaning"), rows)
    if op.actions:
        yield from markdown_table(
            ("action", "argument"), ((f"`{name}`", arg or "-") for name, arg in op.actions)
        )
    yield f"Example: `[TOOL {op.name} {json.dumps(dict(op.example))}]`"
    yield ""


def _json(document: Any) -> str:
    return json.dumps(document, ensure_ascii=False, indent=2)


def pins(ops: Iterable[OpInfo]) -> Iterator[str]:
    """The table `[pins]` of `box.toml` that accepts ops as they are, and nothing else by their names."""
    yield "[pins]"
    for op in ops:
        yield f'"{op.name}" = "{op.digest}"'


FORMATS: Final[Mapping[str, Callable[[Sequence[OpInfo]], str]]] = MappingProxyType(
    {
        "json": lambda ops: _json({"ops": [op.to_json() for op in ops]}),
        "openai": lambda ops: _json([openai_tool(op) for op in ops]),
        "mcp": lambda ops: _json({"tools": [mcp_tool(op) for op in ops]}),
        "markdown": lambda ops: "\n".join(markdown(ops)),
        "pins": lambda ops: "\n".join(pins(ops)),
    }
)
