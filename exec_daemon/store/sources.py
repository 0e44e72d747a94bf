"""Where a store gets times and ids from. Both are passed in, so that a test can know them beforehand."""

from __future__ import annotations

import os
import secrets
import time
from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache

from messaging.moment import iso

# Gives the present time as UTC ISO 8601 with milliseconds and `Z`.
Clock = Callable[[], str]
# Gives a fresh id for a kind of thing: "job" or "msg".
NewId = Callable[[str], str]

# 80 random bits: with a thousand million ids the chance of any two being equal is under one in a million.
_RANDOM_BYTES = 10
# Made ahead: asking the kernel lets go of the interpreter, which another thread may keep for milliseconds.
_READY_AT_ONCE = 256
_READY: deque[str] = deque()
# A child process must not give the same ones.
os.register_at_fork(after_in_child=_READY.clear)


def utc_now() -> str:
    """`2026-12-01T09:00:00.000Z`; each call of an op looks several times."""
    now_ms = time.time_ns() // 1_000_000
    return f"{_second(now_ms // 1000)}.{now_ms % 1000:03d}Z"


@lru_cache(maxsize=4)
def _second(seconds: int) -> str:
    return iso(datetime.fromtimestamp(seconds, UTC)).partition(".")[0]


def random_id(kind: str) -> str:
    """`job-` and 20 hexadecimal digits; fits `^[A-Za-z0-9_-]{1,128}$` (O 7.1)."""
    try:
        return f"{kind}-{_READY.pop()}"
    except IndexError:
        digits, each = secrets.token_hex(_RANDOM_BYTES * _READY_AT_ONCE), 2 * _RANDOM_BYTES
        _READY.extend(digits[start : start + each] for start in range(0, len(digits), each))
        return f"{kind}-{_READY.pop()}"
