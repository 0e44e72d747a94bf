"""Where job events go: the descriptor, a file, an HTTP receiver, a NATS stream; all behind `Sink`.

`transport` reads the environment and makes the one that it asks for. What needs httpx2 or nats-py is
loaded when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from messaging.sinks.backlog import BacklogSink
from messaging.sinks.errors import SinkBroken, SinkClosed, SinkError, TransportError, Undelivered
from messaging.sinks.file import FileSink
from messaging.sinks.lines import EventsSink, ResultSink
from messaging.sinks.retry import Retries
from messaging.sinks.selection import SINKS, Selected, transport
from messaging.sinks.target import allowed_hosts, check_target
from messaging.sinks.variables import VARIABLES

if TYPE_CHECKING:
    from messaging.sinks.callback import Callback, CallbackSink
    from messaging.sinks.nats import NatsSink, NatsTarget
    from messaging.sinks.nats_control import request_cancel
    from messaging.sinks.spool import Resent, Spool, SpoolingSink, resend
    from messaging.sinks.tool import ToolFailed, run_tool

_LAZY = {
    "Callback": "callback",
    "CallbackSink": "callback",
    "NatsSink": "nats",
    "NatsTarget": "nats",
    "Resent": "spool",
    "Spool": "spool",
    "SpoolingSink": "spool",
    "ToolFailed": "tool",
    "request_cancel": "nats_control",
    "resend": "spool",
    "run_tool": "tool",
}

__all__ = [
    "SINKS",
    "VARIABLES",
    "BacklogSink",
    "Callback",
    "CallbackSink",
    "EventsSink",
    "FileSink",
    "NatsSink",
    "NatsTarget",
    "Resent",
    "ResultSink",
    "Retries",
    "Selected",
    "SinkBroken",
    "SinkClosed",
    "SinkError",
    "Spool",
    "SpoolingSink",
    "ToolFailed",
    "TransportError",
    "Undelivered",
    "allowed_hosts",
    "check_target",
    "request_cancel",
    "resend",
    "run_tool",
    "transport",
]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(f"messaging.sinks.{_LAZY[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
