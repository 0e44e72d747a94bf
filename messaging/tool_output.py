"""The end of a job from a stdout that other programs wrote into as well (M-87).

Such a tool prints one document at its end: its result, or a terminal event. `sources.run_child` is for tools
that tell every event.
"""

from __future__ import annotations

from typing import Any, Final

from messaging.event_schema import EventError, read_event
from messaging.events import EventType, JobEvent
from messaging.strict_json import StrictJsonError, loads

BAD_OUTPUT: Final = "bad_output"
_ENDS: Final = tuple(kind.value for kind in EventType if kind.terminal)


def end_in_output(stdout: bytes, job_id: str, at: str) -> JobEvent:
    """The terminal event: the whole of `stdout` if it is JSON, else its last line that is such an event.

    JSON that is no terminal event is the result of a success. Nothing of either kind is a failure,
    `bad_output`. `settle` holds it against the exit code.
    """
    text = stdout.decode("utf-8", "replace")
    try:
        whole = loads(text)
    except StrictJsonError:
        return _last_line(text, job_id, at) or _failed(job_id, at)
    return _terminal(whole, job_id, at) or _event(job_id, at, {"type": "succeeded", "result": whole})


def _last_line(text: str, job_id: str, at: str) -> JobEvent | None:
    """From the end, so that what a tool prints before costs nothing."""
    for line in reversed(text.split("\n")):
        if not line.lstrip().startswith("{"):
            continue
        try:
            found = _terminal(loads(line), job_id, at)
        except StrictJsonError:
            continue
        if found is not None:
            return found
    return None


def _terminal(document: Any, job_id: str, at: str) -> JobEvent | None:
    if not isinstance(document, dict) or document.get("type") not in _ENDS:
        return None
    try:
        return _event(job_id, at, document)
    except EventError:
        return None


def _event(job_id: str, at: str, document: dict[str, Any]) -> JobEvent:
    """Number and time may be missing in it; the job is the one that was started, whatever it says."""
    return read_event({"seq": 0, "ts": at} | document | {"job_id": job_id})


def _failed(job_id: str, at: str) -> JobEvent:
    said = "The tool's output is no JSON, and none of its lines tells how the job ended."
    return _event(job_id, at, {"type": "failed", "code": BAD_OUTPUT, "message": said})
