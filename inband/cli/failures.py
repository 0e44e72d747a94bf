"""Errors of the layers below -> exit codes, and results -> exit codes. Tables only."""

from __future__ import annotations

import errno
from typing import Final

from exec_daemon.errors import DaemonError
from exec_daemon.store.errors import StoreError
from harvester.errors import (
    BadCertificate,
    HarvesterError,
    Refused,
    Unauthenticated,
    Unavailable,
    UnknownDialect,
)
from inband.errors import Exit
from messaging import ErrorCode, Result
from messaging.sinks.errors import SinkError, TransportError
from messaging.sources.history import JobTimedOut
from prompt_envelope import EnvelopeError

# A code that is not here ends the command with FAILED.
BY_CODE: Final = {
    ErrorCode.INVALID_REQUEST: Exit.USAGE,
    ErrorCode.INVALID_ARGS: Exit.USAGE,
    ErrorCode.UNKNOWN_OP: Exit.USAGE,
    ErrorCode.UNKNOWN_ACTION: Exit.USAGE,
    ErrorCode.UNAUTHENTICATED: Exit.DENIED,
    ErrorCode.FORBIDDEN: Exit.DENIED,
    ErrorCode.APPROVAL_DENIED: Exit.DENIED,
    ErrorCode.APPROVAL_EXPIRED: Exit.DENIED,
    ErrorCode.UNAVAILABLE: Exit.UNREACHABLE,
    ErrorCode.BUSY: Exit.UNREACHABLE,
    ErrorCode.TIMEOUT: Exit.TIMED_OUT,
}

_BY_TYPE: Final = (
    (Unavailable, Exit.UNREACHABLE),
    (BadCertificate, Exit.UNREACHABLE),
    (TransportError, Exit.USAGE),
    (SinkError, Exit.UNREACHABLE),
    (JobTimedOut, Exit.TIMED_OUT),
    (EnvelopeError, Exit.USAGE),
    (Unauthenticated, Exit.DENIED),
    (UnknownDialect, Exit.USAGE),
)
# What a machine lacks is no fault of ours: room, files, memory.
_LACKING: Final = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS, errno.EMFILE, errno.ENFILE, errno.ENOMEM}
)
# Anything else is a fault that nobody planned.
_OURS: Final = (EnvelopeError, HarvesterError, SinkError, JobTimedOut, DaemonError, StoreError)


def exit_code_of(fault: Exception) -> Exit | None:
    """The exit code for an error that we know; None for a fault that nobody planned."""
    if isinstance(fault, OSError) and fault.errno in _LACKING:
        return Exit.FAILED
    if not isinstance(fault, _OURS):
        return None
    if isinstance(fault, Refused):
        return BY_CODE.get(fault.error.code, Exit.FAILED)
    return next((code for kind, code in _BY_TYPE if isinstance(fault, kind)), Exit.FAILED)


def exit_code_of_result(result: Result) -> Exit:
    """What a call's result ends a command with."""
    return Exit.OK if result.error is None else BY_CODE.get(result.error.code, Exit.FAILED)
