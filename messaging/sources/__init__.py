"""Where job events come from: NDJSON text, a file that grows, a NATS stream, a child process.

Each source is an async iterator of events in order, each once; `await_job` follows one to its end. What
needs nats-py is loaded when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from messaging.sources.child import ChildEnd, run_child
    from messaging.sources.history import History, JobTimedOut, await_job, in_order
    from messaging.sources.lines import read_lines
    from messaging.sources.nats import nats_events
    from messaging.sources.stream import file_events, pipe_events, whole_events

_LAZY = {
    "ChildEnd": "child",
    "History": "history",
    "JobTimedOut": "history",
    "await_job": "history",
    "file_events": "stream",
    "in_order": "history",
    "nats_events": "nats",
    "pipe_events": "stream",
    "read_lines": "lines",
    "run_child": "child",
    "whole_events": "stream",
}

__all__ = [
    "ChildEnd",
    "History",
    "JobTimedOut",
    "await_job",
    "file_events",
    "in_order",
    "nats_events",
    "pipe_events",
    "read_lines",
    "run_child",
    "whole_events",
]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(f"messaging.sources.{_LAZY[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
