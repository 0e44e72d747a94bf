"""Typed errors: the codes that cross the boundary, what each means over HTTP, and when to try again.

`ERRORS` is the whole table. Validation, HTTP status, the client's retries and `docs/api.md` all read it,
so a code that is missing here exists nowhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any


class MessagingError(Exception):
    """Root of what `messaging` raises: misuse and text that is not what it must be."""


class ErrorCode(StrEnum):
    """A reason why a call was refused or failed."""

    INVALID_REQUEST = "INVALID_REQUEST"
    INVALID_ARGS = "INVALID_ARGS"
    UNAUTHENTICATED = "UNAUTHENTICATED"
    FORBIDDEN = "FORBIDDEN"
    UNKNOWN_OP = "UNKNOWN_OP"
    UNKNOWN_ACTION = "UNKNOWN_ACTION"
    NOT_FOUND = "NOT_FOUND"
    DUPLICATE_ID = "DUPLICATE_ID"
    CANCELLED = "CANCELLED"
    APPROVAL_PENDING = "APPROVAL_PENDING"
    APPROVAL_DENIED = "APPROVAL_DENIED"
    APPROVAL_EXPIRED = "APPROVAL_EXPIRED"
    OP_CHANGED = "OP_CHANGED"
    TOO_LARGE = "TOO_LARGE"
    RATE_LIMITED = "RATE_LIMITED"
    INTERRUPTED = "INTERRUPTED"
    INTERNAL_ERROR = "INTERNAL_ERROR"
    BUSY = "BUSY"
    UNAVAILABLE = "UNAVAILABLE"
    TIMEOUT = "TIMEOUT"
    VERDICT_FAIL = "VERDICT_FAIL"
    NO_VERDICT = "NO_VERDICT"


class Retry(StrEnum):
    """Whether the same call may be sent again."""

    NEVER = "never"
    ALWAYS = "always"
    READ_ONLY = "read-only"


@dataclass(frozen=True, slots=True)
class ErrorKind:
    """One row of the table: HTTP status, retry rule, and the meaning in a sentence."""

    http_status: int
    retry: Retry
    meaning: str


ERRORS: Mapping[ErrorCode, ErrorKind] = MappingProxyType(
    {
        ErrorCode.INVALID_REQUEST: ErrorKind(400, Retry.NEVER, "the request itself is malformed"),
        ErrorCode.INVALID_ARGS: ErrorKind(400, Retry.NEVER, "the op exists, its arguments are wrong"),
        ErrorCode.UNAUTHENTICATED: ErrorKind(401, Retry.NEVER, "no identity, or one that is not valid"),
        ErrorCode.FORBIDDEN: ErrorKind(403, Retry.NEVER, "the identity may not do this"),
        ErrorCode.UNKNOWN_OP: ErrorKind(404, Retry.NEVER, "no op of this name is on the allowlist"),
        ErrorCode.UNKNOWN_ACTION: ErrorKind(404, Retry.NEVER, "box.exec has no action of this name"),
        ErrorCode.NOT_FOUND: ErrorKind(404, Retry.NEVER, "what the call names does not exist"),
        ErrorCode.DUPLICATE_ID: ErrorKind(409, Retry.NEVER, "the call id was used for another call"),
        ErrorCode.CANCELLED: ErrorKind(409, Retry.NEVER, "the job was cancelled before it ended"),
        ErrorCode.APPROVAL_PENDING: ErrorKind(
            202, Retry.NEVER, "a person has to approve it; the outcome follows"
        ),
        ErrorCode.APPROVAL_DENIED: ErrorKind(403, Retry.NEVER, "a person denied it, or it was withdrawn"),
        ErrorCode.APPROVAL_EXPIRED: ErrorKind(
            410, Retry.NEVER, "nobody approved it in time; nothing was done"
        ),
        ErrorCode.OP_CHANGED: ErrorKind(
            409, Retry.NEVER, "the op is not the one that was pinned or approved"
        ),
        ErrorCode.TOO_LARGE: ErrorKind(413, Retry.NEVER, "the request passes a size limit"),
        ErrorCode.RATE_LIMITED: ErrorKind(429, Retry.ALWAYS, "too many calls; wait for Retry-After"),
        ErrorCode.INTERRUPTED: ErrorKind(500, Retry.NEVER, "the daemon died; the effect may have happened"),
        ErrorCode.INTERNAL_ERROR: ErrorKind(500, Retry.NEVER, "a fault of ours; the log has the details"),
        ErrorCode.BUSY: ErrorKind(503, Retry.ALWAYS, "all places are taken; wait for Retry-After"),
        ErrorCode.UNAVAILABLE: ErrorKind(503, Retry.ALWAYS, "the daemon or its store cannot answer now"),
        ErrorCode.TIMEOUT: ErrorKind(504, Retry.READ_ONLY, "no answer within the time limit"),
        ErrorCode.VERDICT_FAIL: ErrorKind(409, Retry.NEVER, "the agent ended the job with the verdict FAIL"),
        ErrorCode.NO_VERDICT: ErrorKind(409, Retry.NEVER, "the agent never ended the job with a verdict"),
    }
)


def retryable(code: ErrorCode, *, side_effecting: bool) -> bool:
    """May a call that ended with `code` be sent again unchanged?"""
    rule = ERRORS[code].retry
    return rule is Retry.ALWAYS or (rule is Retry.READ_ONLY and not side_effecting)


@dataclass(frozen=True, slots=True)
class CallError:
    """Why a call was refused or failed: a result, never an exception.

    `message` is for a reader and says the way out; `details` is JSON for a program.
    """

    code: ErrorCode
    message: str
    retryable: bool = False
    details: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """`{"code", "message", "retryable", "details"}`."""
        return {
            "code": str(self.code),
            "message": self.message,
            "retryable": self.retryable,
            "details": dict(self.details),
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> CallError:
        """The inverse of `to_json`. An unknown code reads as INTERNAL_ERROR, its name kept in `details`."""
        code, details = str(document.get("code")), dict(document.get("details") or {})
        if code not in ErrorCode.__members__:
            details["code"], code = code, ErrorCode.INTERNAL_ERROR
        return cls(
            ErrorCode(code), str(document.get("message", "")), bool(document.get("retryable")), details
        )


def error(
    code: ErrorCode, message: str, *, side_effecting: bool = False, details: Mapping[str, Any] | None = None
) -> CallError:
    """A `CallError` whose `retryable` follows the table."""
    return CallError(code, message, retryable(code, side_effecting=side_effecting), details or {})
