"""The envelope around what a timer or a job tells an agent (O-60 to O-64).

    # Envelope inband/1        the mark
    ```text                    the header, in a fence: names in it are not ours
    …
    ```
    …                          what the agent may call, and how to end
    ```text task               what the user wrote, in a fence longer than any run of backticks inside
    …
    ```

An agent may repeat all or a part of it: nothing in it runs, and nothing in it is a verdict. Calls are shown
with `…` for their values, in code spans; the user's text has escapes (`escape.py`) and a fence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from messaging import OpInfo
from patterns import vocabulary
from prompt_envelope.errors import EnvelopeError
from prompt_envelope.escape import escaped, unescaped
from prompt_envelope.header import EnvelopeContext
from prompt_envelope.hints import hints

MARK: Final = "# Envelope inband/1"
# O-63: what stands around the task is short, or agents skip it.
MAX_HEAD_BYTES: Final = 2048

_CALLS: Final = (
    "To act, write a directive into your reply as your own plain text, outside code and quotes, with JSON "
    "in place of each `…`. Results come back in this thread."
)
_VERDICT: Final = (
    "When the task is done or cannot go on, end your reply with a line of its own: `[RESULT] WORD: why`, "
    "WORD being one of {words}."
)
_ESCAPES: Final = "Some characters of it are written as `\\u00XX`."
_TASK: Final = re.compile(r"^(?P<fence>`{3,})text task\n", re.MULTILINE)
_BACKTICKS: Final = re.compile("`+")


def _fence(text: str) -> str:
    return "`" * max(3, 1 + max((len(run) for run in _BACKTICKS.findall(text)), default=0))


def _head(context: EnvelopeContext, ops: Iterable[OpInfo], *, escapes: bool) -> str:
    """All that stands before the task."""
    header = "\n".join((MARK, "", "```text", *context.lines(), "```"))
    words = ", ".join(dict.fromkeys(vocabulary().verdicts.values()))
    ending = f"{_VERDICT.format(words=words)}\n\nThe task:{f' {_ESCAPES}' if escapes else ''}"
    room = MAX_HEAD_BYTES - len(f"{header}\n\n{_CALLS}\n\n\n{ending}\n\n".encode())
    listed = "\n".join(hints(ops, room))
    return f"{header}\n\n{_CALLS}\n\n{listed}\n\n{ending}\n\n"


def wrap(message: str, context: EnvelopeContext, ops: Iterable[OpInfo]) -> str:
    """`message` in its envelope, with hints for the `ops` of the registry.

    An envelope is not wrapped again: it gets the header and the hints of this call, so that a text that only
    looks like one brings none of its own.
    """
    text = unwrap(message) if is_envelope(message) else message
    task = escaped(text)
    fence = _fence(task)
    return f"{_head(context, ops, escapes=task != text)}{fence}text task\n{task}\n{fence}\n"


def _task(text: str) -> str | None:
    """The task as it stands in the envelope `text`; None when it is none."""
    opening = _TASK.search(text) if text.startswith(f"{MARK}\n") else None
    if opening is None:
        return None
    task = text[opening.end() :].removesuffix("\n").removesuffix(f"\n{opening['fence']}")
    whole = f"{opening[0]}{task}\n{opening['fence']}"
    return (
        task
        if text[opening.start() :].removesuffix("\n") == whole and _fence(task) == opening["fence"]
        else None
    )


def is_envelope(text: str) -> bool:
    """Was `text` made by `wrap`?"""
    return _task(text) is not None


def unwrap(text: str) -> str:
    """The message that was wrapped, exactly; raises `EnvelopeError` for a text that is no envelope."""
    task = _task(text)
    if task is None:
        raise EnvelopeError("this is no envelope")
    return unescaped(task)
