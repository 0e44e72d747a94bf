"""What a task's script says: is the agent to be woken, and with what (T-75, T-76)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from messaging.strict_json import StrictJsonError, load_object

_LINE_ENDS: Final = "\r\n \t"


@dataclass(frozen=True, slots=True)
class ScriptResult:
    """`reason` says why a script that should have decided did not; it never wakes."""

    wake_agent: bool
    data: Any = None
    reason: str = ""


def script_result(stdout: str) -> ScriptResult:
    """The decision of its last line that holds anything. Whatever is not a clear yes is a no."""
    lines = stdout.rstrip(_LINE_ENDS).rsplit("\n", 1)
    if not lines[-1].strip():
        return ScriptResult(wake_agent=False, reason="the script printed nothing")
    try:
        decision = load_object(lines[-1].strip())
    except StrictJsonError as wrong:
        return ScriptResult(wake_agent=False, reason=f"the script's last line is no decision: {wrong}")
    wake = decision.get("wakeAgent")
    if not isinstance(wake, bool):
        return ScriptResult(wake_agent=False, reason="wakeAgent must be true or false")
    return ScriptResult(wake_agent=wake, data=decision.get("data"))
