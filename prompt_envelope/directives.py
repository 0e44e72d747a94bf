"""Directives for others to write or read: one line each, strict JSON, any text in them (O-61, O-62)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

from messaging import OpInfo
from prompt_envelope.errors import EnvelopeError

# GRAMMAR 4: a directive of more than 64 KiB of UTF-8, from `[` to `]`, is broken.
MAX_DIRECTIVE_BYTES: Final = 64 * 1024

# What RFC 8259 lets stand in a string as it is, and what Markdown or a terminal may still give a meaning.
_UNQUIET: Final = re.compile(r"[`<>~\x7f-\xa0\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def one_line_json(value: Mapping[str, Any]) -> str:
    """`value` as one line of strict JSON that no Markdown around it can change."""
    text = json.dumps(dict(value), ensure_ascii=False, allow_nan=False)
    return _UNQUIET.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def directive(engine: str, value: Mapping[str, Any]) -> str:
    """`[engine {value}]`; raises `EnvelopeError` where the grammar would not take it."""
    text = f"[{engine} {one_line_json(value)}]"
    if lone := _SURROGATE.search(text):
        raise EnvelopeError(f"a lone surrogate (U+{ord(lone[0]):04X}) cannot be sent")
    if (size := len(text.encode())) > MAX_DIRECTIVE_BYTES:
        raise EnvelopeError(f"a directive of {size} bytes is over the limit of {MAX_DIRECTIVE_BYTES}")
    return text


def dm_call(
    to: str, text: str, *, thread: str | None = None, reply_to: str | None = None, priority: str | None = None
) -> str:
    """A ready `[DM {…}]` line that sends `text` to the agent `to` (O-61).

    Any text comes back unchanged when the line is harvested. Raises TypeError for what is no string, and
    `EnvelopeError` for a lone surrogate or a line of over 64 KiB.
    """
    optional = {"thread": thread, "reply_to": reply_to, "priority": priority}
    arguments = {"to": to, "text": text} | {
        key: value for key, value in optional.items() if value is not None
    }
    for name, value in arguments.items():
        if not isinstance(value, str):
            raise TypeError(f"{name} must be a string, not {type(value).__name__}")
    return directive("DM", arguments)


def example_call(op: OpInfo) -> str:
    """A directive that calls `op` with its example: it scans to exactly this one call."""
    return directive(f"TOOL {op.name}", op.example)


def placeholder_call(op: OpInfo) -> str:
    """How a call of `op` looks, a `…` for each value: that is no JSON, so a copy of it never runs."""
    inside = ", ".join(f"{json.dumps(name)}: …" for name in op.required) or "…"
    return f"[TOOL {op.name} {{{inside}}}]"
