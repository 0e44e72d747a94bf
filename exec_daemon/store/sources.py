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

# An id begins with when it was made, in milliseconds (44 bits reach to the year 2527): rows of one time then
# lie side by side in each index, however large it is. Where they lie anywhere, each has whole pages written.
_TIME_DIGITS = 11
# 52 random bits: who knows the time does not guess the id, and no two processes make the same one.
_RANDOM_DIGITS = 13
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
    """`job-` and 24 hexadecimal digits, each after the one before; fits `^[A-Za-z0-9_-]{1,128}$` (O 7.1)."""
    try:
        return f"{kind}-{_READY.popleft()}"
    except IndexError:
        _READY.extend(_made(time.time_ns() // 1_000_000))
        return f"{kind}-{_READY.popleft()}"


def _made(now_ms: int) -> list[str]:
    digits = secrets.token_hex(_RANDOM_DIGITS * _READY_AT_ONCE // 2)
    starts = range(0, len(digits), _RANDOM_DIGITS)
    return sorted({f"{now_ms:0{_TIME_DIGITS}x}{digits[start : start + _RANDOM_DIGITS]}" for start in starts})
