"""What crosses a boundary: calls, results, errors, ops, threads, job events, and text made safe.

Pure values and functions; nothing here does I/O.
"""

from messaging.call import Call, CallRequest
from messaging.canonical import canonical_json, digest
from messaging.errors import ERRORS, CallError, ErrorCode, ErrorKind, MessagingError, Retry, error, retryable
from messaging.events import EventType, Job, JobEvent, JobState
from messaging.neutral import fenced, neutralise, one_line
from messaging.ops import OpInfo
from messaging.redaction import redact, secret_values
from messaging.result import Result
from messaging.strict_json import StrictJsonError, load_object, loads
from messaging.terminal import strip_terminal
from messaging.threads import AuthorKind, Message, MessageKind, NewMessage, Thread

__all__ = [
    "ERRORS",
    "AuthorKind",
    "Call",
    "CallError",
    "CallRequest",
    "ErrorCode",
    "ErrorKind",
    "EventType",
    "Job",
    "JobEvent",
    "JobState",
    "Message",
    "MessageKind",
    "MessagingError",
    "NewMessage",
    "OpInfo",
    "Result",
    "Retry",
    "StrictJsonError",
    "Thread",
    "canonical_json",
    "digest",
    "error",
    "fenced",
    "load_object",
    "loads",
    "neutralise",
    "one_line",
    "redact",
    "retryable",
    "secret_values",
    "strip_terminal",
]
