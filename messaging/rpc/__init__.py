"""JSON Lines RPC between an agent's runtime and its orchestrator: the protocol itself, without any I/O.

docs/rpc.md is its description. Bytes in, requests and rejections out (`codec`), frames (`frames`), the codes
of errors (`codes`), what makes a request happen once (`once`), and the states of a task (`tasks`).
"""

from messaging.rpc.codec import Codec, CodecClosed, Lines
from messaging.rpc.codes import CODES, CodeRow, RpcCode, RpcError, code_named, rpc_error
from messaging.rpc.frames import (
    Event,
    Rejected,
    Request,
    encode,
    failure,
    read_event,
    read_request,
    success,
)
from messaging.rpc.once import KEPT_FOR, MOST_KEPT, Earlier, Replay, judge, keeps, request_digest
from messaging.rpc.tasks import MODES, Step, TaskState, is_open, is_task_id, moved

__all__ = [
    "CODES",
    "KEPT_FOR",
    "MODES",
    "MOST_KEPT",
    "CodeRow",
    "Codec",
    "CodecClosed",
    "Earlier",
    "Event",
    "Lines",
    "Rejected",
    "Replay",
    "Request",
    "RpcCode",
    "RpcError",
    "Step",
    "TaskState",
    "code_named",
    "encode",
    "failure",
    "is_open",
    "is_task_id",
    "judge",
    "keeps",
    "moved",
    "read_event",
    "read_request",
    "request_digest",
    "rpc_error",
    "success",
]
