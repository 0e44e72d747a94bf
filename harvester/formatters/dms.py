"""`dm.send` and `dm.read`: where a message went, and what came in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from harvester.formatters.plain import plain


def sent(data: Any) -> str:
    """One line."""
    if not isinstance(data, dict) or not {"to", "thread", "message_id"} <= data.keys():
        return plain(data)
    return f"delivered to {data['to']}, thread {data['thread']}, message {data['message_id']}"


def inbox(data: Any) -> str:
    """A line of head a message, its text indented below."""
    messages = data.get("messages") if isinstance(data, dict) else None
    if not isinstance(messages, list) or not all(isinstance(one, dict) for one in messages):
        return plain(data)
    head = f"thread {data.get('thread')}, last seq {data.get('last_seq')}, {len(messages)} shown"
    return "\n".join([head, *(line.rstrip() for one in messages for line in _message(one))])


def _message(one: Mapping[str, Any]) -> Iterator[str]:
    yield f"seq {one.get('seq')}, from {one.get('author')}, {one.get('created_at')}, id {one.get('id')}"
    for line in str(one.get("body", "")).split("\n"):
        yield f"  {line}"
