"""Why an agent run failed, as a type: from fields first, from what stderr says only where no field does.

A-05, J-29: stdout is the protocol, its errors have fields. Text is looked at for one purpose, to choose
between "later" and "never"; cost, session and status are never read out of text.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class FailureKind(StrEnum):
    """What kind of failure it is, which says whether the same run may be tried again."""

    THROTTLE = "throttle"  # too much at once: the same again, later
    FLAKE = "flake"  # the network or the provider: the same again
    AUTH = "auth"  # a person has to log in
    QUOTA = "quota"  # a person has to pay
    LIMIT = "limit"  # turns, budget or length that the caller set
    INPUT = "input"  # the arguments or the prompt
    CONFIG = "config"  # the CLI's settings, its sandbox or its workspace
    STARTUP = "startup"  # it never got to work
    TOOL = "tool"  # a tool of the agent ended it
    CANCELLED = "cancelled"  # a person or a program stopped it
    DIED = "died"  # a signal ended it
    STALLED = "stalled"  # it said nothing for too long
    TIMED_OUT = "timed_out"  # it took too long
    SESSION_LOST = "session_lost"  # it was to resume a session and began another
    ENVELOPE_REQUIRED = "envelope_required"  # it did not introduce itself in time (J-27)
    UNKNOWN = "unknown"


# Only what changed nothing, or what the CLI itself would have tried again.
RETRYABLE: Final = frozenset({FailureKind.THROTTLE, FailureKind.FLAKE})

# HTTP statuses of model providers; 529 is Anthropic's "overloaded".
BY_STATUS: Final = {
    400: FailureKind.INPUT,
    401: FailureKind.AUTH,
    402: FailureKind.QUOTA,
    403: FailureKind.AUTH,
    408: FailureKind.FLAKE,
    413: FailureKind.INPUT,
    429: FailureKind.THROTTLE,
    500: FailureKind.FLAKE,
    502: FailureKind.FLAKE,
    503: FailureKind.FLAKE,
    504: FailureKind.FLAKE,
    529: FailureKind.THROTTLE,
}

# What programs print, in lower case; the first row that occurs decides. Quota stands first because its
# messages mention limits as well.
PHRASES: Final = (
    (FailureKind.QUOTA, ("insufficient balance", "insufficient_quota", "quota exceeded", "credit balance")),
    (
        FailureKind.THROTTLE,
        (
            "rate limit",
            "rate_limit",
            "ratelimit",
            "too many requests",
            "throttl",
            "overloaded",
            "usage limit",
        ),
    ),
    (
        FailureKind.AUTH,
        (
            "unauthorized",
            "unauthenticated",
            "invalid api key",
            "invalid_api_key",
            "not logged in",
            "please log in",
            "please run /login",
            "authentication failed",
            "token has expired",
            "forbidden",
        ),
    ),
    (
        FailureKind.FLAKE,
        (
            "timed out",
            "etimedout",
            "deadline exceeded",
            "connection refused",
            "econnrefused",
            "connection reset",
            "econnreset",
            "enotfound",
            "eai_again",
            "network unreachable",
            "socket hang up",
            "stream disconnected",
            "fetch failed",
            "bad gateway",
            "service unavailable",
            "internal server error",
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class Failure:
    """Why; `message` is the CLI's own words, `status` an HTTP status, `retryable` its own or its kind's."""

    kind: FailureKind
    message: str
    status: int | None = None
    retryable: bool = False


def classify(text: str) -> FailureKind:
    """The kind that the words of an error speak of; UNKNOWN where they say nothing."""
    lower = text.lower()
    return next(
        (kind for kind, words in PHRASES if any(word in lower for word in words)), FailureKind.UNKNOWN
    )


def failure(
    message: str,
    kind: FailureKind | None = None,
    *,
    status: int | None = None,
    retryable: bool | None = None,
) -> Failure:
    """A failure by what is known of it, the surest first: its kind, its status, its words."""
    found = kind or BY_STATUS.get(status or 0) or classify(message)
    return Failure(found, message, status, found in RETRYABLE if retryable is None else retryable)
