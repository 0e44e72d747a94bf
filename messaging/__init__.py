"""What crosses a boundary: calls, results, errors, ops, threads, job events, and text made safe.

Pure values and functions, but for four parts that do I/O and are imported by their own names:
`messaging.sinks`, where events go, `messaging.sources`, where they come from, `messaging.artifact_stores`,
where large content is kept, and `messaging.guarded_fetch`, which fetches what others name. The names that
need pydantic are loaded when they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from messaging.artifacts import (
    ArtifactError,
    ArtifactMismatch,
    ArtifactRef,
    BadArtifactRef,
    artifact_in,
    verify_artifact,
)
from messaging.call import Call, CallRequest
from messaging.canonical import canonical_json, digest
from messaging.emitter import BadJobId, JobEmitter, Sanitise, Sink
from messaging.errors import ERRORS, CallError, ErrorCode, ErrorKind, MessagingError, Retry, error, retryable
from messaging.event_order import OutOfOrder, Phase
from messaging.events import JOB_ID, EventType, Job, JobEvent, JobState
from messaging.neutral import fence_mark, fenced, neutralise, one_line
from messaging.ops import OpInfo
from messaging.redaction import clip, redact, secret_values
from messaging.result import Result
from messaging.sequence import EventSequence
from messaging.signature import sign, verify, verify_webhook, webhook_headers
from messaging.spelled import spelled
from messaging.strict_json import StrictJsonError, load_object, loads
from messaging.terminal import strip_terminal
from messaging.threads import TIMER_AUTHOR, AuthorKind, Message, MessageKind, NewMessage, Thread
from messaging.tool_exit import EXIT_OF_CODE, End, exit_of, settle

if TYPE_CHECKING:
    from messaging.event_schema import EventError, decode_event, read_event

_LAZY = dict.fromkeys(("EventError", "decode_event", "read_event"), "messaging.event_schema")

__all__ = [
    "ERRORS",
    "EXIT_OF_CODE",
    "JOB_ID",
    "TIMER_AUTHOR",
    "ArtifactError",
    "ArtifactMismatch",
    "ArtifactRef",
    "AuthorKind",
    "BadArtifactRef",
    "BadJobId",
    "Call",
    "CallError",
    "CallRequest",
    "End",
    "ErrorCode",
    "ErrorKind",
    "EventError",
    "EventSequence",
    "EventType",
    "Job",
    "JobEmitter",
    "JobEvent",
    "JobState",
    "Message",
    "MessageKind",
    "MessagingError",
    "NewMessage",
    "OpInfo",
    "OutOfOrder",
    "Phase",
    "Result",
    "Retry",
    "Sanitise",
    "Sink",
    "StrictJsonError",
    "Thread",
    "artifact_in",
    "canonical_json",
    "clip",
    "decode_event",
    "digest",
    "error",
    "exit_of",
    "fence_mark",
    "fenced",
    "load_object",
    "loads",
    "neutralise",
    "one_line",
    "read_event",
    "redact",
    "retryable",
    "secret_values",
    "settle",
    "sign",
    "spelled",
    "strip_terminal",
    "verify",
    "verify_artifact",
    "verify_webhook",
    "webhook_headers",
]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
