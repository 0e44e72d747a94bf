"""When a delivery is tried again, and after how long (M-38 to M-41). Pure: chance is passed in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import Enum, auto
from typing import Final

# M-41: of the refusals only these may pass by themselves.
_PASSING: Final = frozenset({408, 425, 429})


class Verdict(Enum):
    """What an answer means for the event."""

    DELIVERED = auto()
    AGAIN = auto()
    REFUSED = auto()


@dataclass(frozen=True, slots=True, kw_only=True)
class Retries:
    """`attempts` counts the first one too (M-38).

    `base_s`: before attempt 2, 3, 4 … at most 0.2, 0.4, 0.8 s pass, as upstream has it; a random part of
    that (full jitter), so that tools that failed together do not return together. `cap_s`: M-39.
    `patience_s`: a receiver that asks for a longer pause than this gets none; the event is undelivered.
    """

    attempts: int = 3
    base_s: float = 0.2
    cap_s: float = 10.0
    patience_s: float = 60.0

    def wait_s(
        self, failed: int, retry_after_s: float | None, uniform: Callable[[float, float], float]
    ) -> float | None:
        """The pause after `failed` attempts; None when it has been enough."""
        if failed >= self.attempts or (retry_after_s or 0.0) > self.patience_s:
            return None
        # The exponent is bounded before the power: 2 ** 2000 is no float.
        jitter_s = uniform(0.0, min(self.cap_s, self.base_s * 2 ** min(failed - 1, 16)))
        return jitter_s if retry_after_s is None else max(jitter_s, retry_after_s)


def verdict(status: int) -> Verdict:
    """What HTTP `status` says. Redirects are not followed (M-35), so they are a failed attempt."""
    if 200 <= status < 300:
        return Verdict.DELIVERED
    return Verdict.REFUSED if 400 <= status < 500 and status not in _PASSING else Verdict.AGAIN


def retry_after_s(value: str | None, now: datetime) -> float | None:
    """RFC 9110 10.2.3: seconds, or an HTTP date; None for anything else. `now` is aware."""
    text = (value or "").strip()
    if text.isascii() and text.isdigit() and len(text) <= 9:
        return float(text)
    try:
        at = parsedate_to_datetime(text)
    except ValueError:
        return None
    at = at if at.tzinfo else at.replace(tzinfo=UTC)
    return max(0.0, (at - now).total_seconds())
