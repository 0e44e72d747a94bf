"""Ops as tools, and calls of tools as calls. Types of the protocol on one side, ours on the other."""

from __future__ import annotations

import json
from typing import Any, Final

from mcp_types import CallToolRequestParams, CallToolResult, TextContent, Tool

from messaging import Call, CallRequest, OpInfo, Result
from messaging.op_formats import mcp_tool

# What a client may send in `_meta`, and what an answer has there.
CALL_ID: Final = "inband/call_id"
THREAD: Final = "inband/thread"

_RESULT: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "ok": {"type": "boolean"},
        "op": {"type": "string"},
        "call_id": {"type": ["string", "null"]},
        "job_id": {"type": ["string", "null"]},
        "side_effecting": {"type": "boolean"},
        "duration_ms": {"type": "number"},
        "result": {},
        "error": {
            "type": "object",
            "properties": {
                "code": {"type": "string"},
                "message": {"type": "string"},
                "retryable": {"type": "boolean"},
                "details": {"type": "object"},
            },
            "required": ["code", "message", "retryable", "details"],
        },
        "replayed": {"type": "boolean"},
    },
    "required": ["ok", "op", "side_effecting"],
}


def tool(op: OpInfo) -> Tool:
    """The tool of an op; all four hints follow from its flag."""
    return Tool.model_validate(
        mcp_tool(op) | {"outputSchema": _RESULT, "_meta": {"inband/aliases": list(op.aliases)}}
    )


def request_of(params: CallToolRequestParams, meta: dict[str, Any]) -> CallRequest:
    """The call that a client asks for. `_meta` may give it an id and the thread that it belongs to."""
    call_id, thread = meta.get(CALL_ID), meta.get(THREAD)
    return CallRequest(
        call=Call(params.name, params.arguments or {}, call_id if isinstance(call_id, str) else None),
        thread=thread if isinstance(thread, str) else None,
    )


def answer(result: Result) -> CallToolResult:
    """The result as text, for clients that read no structure, and as the structure itself."""
    document = result.to_json()
    shown = result.data if result.error is None else document["error"]
    return CallToolResult(
        content=[TextContent(text=json.dumps(shown, ensure_ascii=False))],
        structured_content=document,
        is_error=not result.ok,
        _meta={CALL_ID: result.call_id},
    )
