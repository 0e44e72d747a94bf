"""`<invoke name="…">` as Anthropic's models write it in plain text, and MiniMax's after them.

A block `<function_calls>` or `<minimax:tool_call>` may stand around the invokes, and a namespace in all tags.
"""

from __future__ import annotations

from typing import Final

from harvester.dialects.dialect import Dialect
from harvester.dialects.invokes import Invokes, read_invoke, read_section
from harvester.dialects.reading import Reading
from harvester.dialects.source import Steps, marks
from harvester.dialects.tagged import Calls, Tags, Thought
from harvester.dialects.writer import Edges, drop_gap

_SPACE: Final = "antml" + ":"

# The name of the block, and the namespace of the tags inside.
_SPELLINGS: Final = (
    ("function_calls", ""),
    (f"{_SPACE}function_calls", _SPACE),
    ("minimax:tool_call", ""),
)


def _invokes(section: str, space: str) -> Invokes:
    return Invokes(
        invoke=f"<{space}invoke ",
        end_invoke=f"</{space}invoke>",
        parameter=f"<{space}parameter ",
        end_parameter=f"</{space}parameter>",
        end_section=f"</{section}>",
    )


def _block(tags: Invokes) -> Calls:
    def read(reading: Reading, _start: int, position: int) -> Steps[int]:
        return read_section(reading, tags, position)

    return Calls(read=read, closers=marks(tags.end_section))


def _alone(tags: Invokes) -> Calls:
    def read(reading: Reading, start: int, position: int) -> Steps[int]:
        return read_invoke(reading, tags, start, position)

    return Calls(read=read, closers=marks(tags.end_invoke))


_BLOCKS: Final = {f"<{section}>": _block(_invokes(section, space)) for section, space in _SPELLINGS}
_ALONE: Final = {f"<{space}invoke ": _alone(_invokes("", space)) for space in ("", _SPACE)}

ANTHROPIC: Final = Dialect(
    name="anthropic",
    tags=Tags(calls=_BLOCKS | _ALONE, thoughts=(Thought("<thinking>", "</thinking>", edges="\n"),)),
    edges=Edges(start="\n", gap=drop_gap),
    signs=(r"<(?:\w+:)?invoke\s+name\s*=",),
)
