"""Where a store gets times and ids from. Both are passed in, so that a test can know them beforehand."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from datetime import UTC, datetime

from messaging.moment import iso

# Gives the present time as UTC ISO 8601 with milliseconds and `Z`.
Clock = Callable[[], str]
# Gives a fresh id for a kind of thing: "job" or "msg".
NewId = Callable[[str], str]

# 80 random bits: with a thousand million ids the chance of any two being equal is under one in a million.
_RANDOM_BYTES = 10


def utc_now() -> str:
    """`2026-12-01T09:00:00.000Z`."""
    return iso(datetime.now(UTC))


def random_id(kind: str) -> str:
    """`job-` and 20 hexadecimal digits; fits `^[A-Za-z0-9_-]{1,128}$` (O 7.1)."""
    return f"{kind}-{secrets.token_hex(_RANDOM_BYTES)}"
