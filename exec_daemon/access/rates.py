"""Token buckets: how often something may happen (O 7.5, O-85)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from messaging.quick import quickly_made

# Buckets are dropped once full again; so many are kept before we look for full ones.
_MOST_BUCKETS = 10_000


@quickly_made
@dataclass(frozen=True, slots=True)
class Want:
    """One token of the bucket `key`, which gets `per_min` a minute and holds as many; 0: no limit."""

    key: str
    per_min: int


@dataclass(slots=True)
class _Bucket:
    tokens: float
    at_s: float


class Buckets:
    """All buckets of a daemon. `clock` gives monotonic seconds. Not for several threads."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._buckets: dict[Want, _Bucket] = {}

    def take(self, wants: Sequence[Want]) -> float:
        """Takes one token for each of `wants` or none at all; the seconds to wait, 0.0 when taken."""
        limited = [want for want in wants if want.per_min > 0]
        if not limited:
            return 0.0
        buckets = [self._filled(want) for want in limited]
        wait_s = max(
            ((1 - bucket.tokens) * 60 / want.per_min for want, bucket in zip(limited, buckets, strict=True)),
            default=0.0,
        )
        if wait_s > 0:
            return wait_s
        for bucket in buckets:
            bucket.tokens -= 1
        return 0.0

    def _filled(self, want: Want) -> _Bucket:
        now = self._clock()
        if want not in self._buckets and len(self._buckets) >= _MOST_BUCKETS:
            self._drop_full(now)
        bucket = self._buckets.setdefault(want, _Bucket(float(want.per_min), now))
        bucket.tokens = self._level(want, bucket, now)
        bucket.at_s = now
        return bucket

    def _drop_full(self, now: float) -> None:
        full = [
            want for want, bucket in self._buckets.items() if self._level(want, bucket, now) >= want.per_min
        ]
        for want in full:
            del self._buckets[want]

    @staticmethod
    def _level(want: Want, bucket: _Bucket, now: float) -> float:
        return min(float(want.per_min), bucket.tokens + (now - bucket.at_s) * want.per_min / 60)
