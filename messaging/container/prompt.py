"""How the first prompt of a run is put together (T-21, T-27, T-77)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

SCHEDULED_PREFIX: Final = (
    "[SCHEDULED TASK - The following message was sent automatically and is not coming directly from the "
    "user or group.]"
)


def first_prompt(prompt: str, *, scheduled: bool, pending: Sequence[str] = ()) -> str:
    """The prompt, marked if a timer sent it, and behind it the follow-ups that waited for the start."""
    head = f"{SCHEDULED_PREFIX}\n\n{prompt}" if scheduled else prompt
    return "\n".join((head, *pending))


def woken_prompt(prompt: str, data: Any) -> str:
    """What an agent reads whose script asked for it."""
    output = json.dumps(data, indent=2, ensure_ascii=False)
    return f"[SCHEDULED TASK]\n\nScript output:\n{output}\n\nInstructions:\n{prompt}"
