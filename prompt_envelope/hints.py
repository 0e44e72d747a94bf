"""What an agent may call, a line for each op of the registry (O-60, O-62)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from messaging import OpInfo, one_line, strip_terminal
from prompt_envelope.directives import placeholder_call

# O-60: these are named in every envelope, so they come before whatever else there is room for.
FIRST: Final = ("dm.send", "box.exec", "tools.list", "swarm.spawn", "cron.create")
# A hint is a reminder; `tools.list` has the whole.
_SUMMARY_CHARS: Final = 60


def plain(text: str, most_chars: int) -> str:
    """Text that others wrote as one line without a meaning in Markdown."""
    return one_line(strip_terminal(text), most_chars).replace("`", "'").replace("<", "‹").replace(">", "›")


def hint(op: OpInfo) -> str:
    """One line: how a call of `op` looks, which arguments it may have besides, and what it does."""
    optional = ", ".join(name for name in op.arguments if name not in op.required)
    return f"- `{placeholder_call(op)}` {plain(op.summary, _SUMMARY_CHARS)}" + (
        f" (also: {plain(optional, _SUMMARY_CHARS)})" if optional else ""
    )


def _rank(op: OpInfo) -> int:
    return FIRST.index(op.name) if op.name in FIRST else len(FIRST)


def hints(ops: Iterable[OpInfo], most_bytes: int) -> list[str]:
    """A line for each op that the agent may use, as many as `most_bytes` of UTF-8 have room for.

    The order is that of `ops`, those of O-60 first. Nothing that is copied from the lines runs.
    """
    lines, left = [], most_bytes
    for op in sorted((op for op in ops if op.allowed is not False), key=_rank):
        line = hint(op)
        left -= len(line.encode("utf-8", "replace")) + 1
        if left < 0:
            break
        lines.append(line)
    return lines
