"""Why a read is refused or fails.

BoxError               carries the `messaging.CallError` that the caller is answered with
└── FactsUnavailable   the store cannot answer now; what implements `StoreFacts` raises it
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from messaging import CallError, ErrorCode, error, one_line

# Enough to recognise what one wrote; a caller's 200 KB are not sent back.
_ECHO_CHARS = 80


class BoxError(Exception):
    """A read that was refused, or that could not be done. `error` is the typed answer."""

    def __init__(self, answer: CallError) -> None:
        super().__init__(answer.message)
        self.error = answer


class FactsUnavailable(BoxError):
    """The store cannot answer now. `why` is for a reader."""

    def __init__(self, why: str) -> None:
        super().__init__(error(ErrorCode.UNAVAILABLE, f"the store cannot answer: {why}"))


def failure(code: ErrorCode, message: str, details: Mapping[str, Any] | None = None) -> BoxError:
    """A `BoxError` with this answer; `retryable` follows the table of codes for read-only calls."""
    return BoxError(error(code, message, details=details))


def echo(text: str) -> str:
    """What the caller wrote, as one harmless short line."""
    return one_line(text, _ECHO_CHARS)


def not_found(what: str, name: str) -> BoxError:
    """The one answer for what is missing and for what the asker may not see (O-46)."""
    return failure(
        ErrorCode.NOT_FOUND, f"no {what} “{echo(name)}” here, or none that you may see", {"what": what}
    )
