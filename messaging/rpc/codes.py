"""The codes of RPC errors, and whether a request may be sent again (J-25). `CODES` is the whole table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final


class RpcCode(StrEnum):
    """Why a request was refused or failed."""

    INVALID_REQUEST = "INVALID_REQUEST"
    TASK_NOT_FOUND = "TASK_NOT_FOUND"
    TASK_NOT_READY = "TASK_NOT_READY"
    SWITCH_TIMEOUT = "SWITCH_TIMEOUT"
    PI_PROCESS_DEAD = "PI_PROCESS_DEAD"
    TASK_BOOTSTRAP_FAILED = "TASK_BOOTSTRAP_FAILED"
    INTERNAL_ERROR = "INTERNAL_ERROR"
    WORKSPACE_POLICY_VIOLATION = "WORKSPACE_POLICY_VIOLATION"
    UNAUTHENTICATED = "UNAUTHENTICATED"
    FORBIDDEN = "FORBIDDEN"
    RATE_LIMITED = "RATE_LIMITED"
    BUSY = "BUSY"
    ENVELOPE_REQUIRED = "ENVELOPE_REQUIRED"


@dataclass(frozen=True, slots=True)
class CodeRow:
    """One row: may the same request be sent again, and the meaning in a sentence."""

    retryable: bool
    meaning: str


CODES: Final[Mapping[RpcCode, CodeRow]] = MappingProxyType(
    {
        RpcCode.INVALID_REQUEST: CodeRow(retryable=False, meaning="the request itself is wrong"),
        RpcCode.TASK_NOT_FOUND: CodeRow(retryable=False, meaning="there is no task of this id"),
        RpcCode.TASK_NOT_READY: CodeRow(retryable=True, meaning="the task cannot do this now"),
        RpcCode.SWITCH_TIMEOUT: CodeRow(retryable=True, meaning="the task did not become ready in time"),
        RpcCode.PI_PROCESS_DEAD: CodeRow(retryable=True, meaning="the agent's process has ended"),
        RpcCode.TASK_BOOTSTRAP_FAILED: CodeRow(retryable=True, meaning="the agent's process did not start"),
        RpcCode.INTERNAL_ERROR: CodeRow(retryable=False, meaning="a fault of ours; the log has the details"),
        RpcCode.WORKSPACE_POLICY_VIOLATION: CodeRow(
            retryable=False, meaning="the folder is none that the agent may work in"
        ),
        RpcCode.UNAUTHENTICATED: CodeRow(retryable=False, meaning="no identity, or one that is not valid"),
        RpcCode.FORBIDDEN: CodeRow(retryable=False, meaning="the identity may not do this"),
        RpcCode.RATE_LIMITED: CodeRow(retryable=True, meaning="too many requests in the last minute"),
        RpcCode.BUSY: CodeRow(retryable=True, meaning="all places are taken, or the store cannot answer now"),
        RpcCode.ENVELOPE_REQUIRED: CodeRow(
            retryable=False, meaning="the agent did not introduce itself with `ready`"
        ),
    }
)

# Names that others have for the same; read, never written.
_ALIASES: Final = {"AGENT_PROCESS_DEAD": RpcCode.PI_PROCESS_DEAD}


def code_named(name: str) -> RpcCode | None:
    """The code that a name stands for, aliases included; None for one that nobody knows."""
    return _ALIASES.get(name) or RpcCode.__members__.get(name)


@dataclass(frozen=True, slots=True)
class RpcError:
    """Why a request was refused or failed: a result, never an exception."""

    code: RpcCode
    message: str
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def retryable(self) -> bool:
        """As the table says."""
        return CODES[self.code].retryable

    def to_json(self) -> dict[str, Any]:
        """`{"code", "message", "retryable"}`, and `details` where there are any (J-04)."""
        document = {"code": str(self.code), "message": self.message, "retryable": self.retryable}
        return document | ({"details": dict(self.details)} if self.details else {})


def rpc_error(code: RpcCode, message: str, **details: Any) -> RpcError:
    """`message` is for a reader and says the way out."""
    return RpcError(code, message, details)
