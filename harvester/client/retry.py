"""When a request is sent again, and after how long: exponential backoff with full jitter."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """Limits of one request with all its repetitions. The waits come from injected functions.

    `attempts`: three get over a dropped connection; a person at a prompt does not wait for more.
    `base_s`, `cap_s`: the n-th wait is random between 0 and base * 2**n, at most the cap; random, so that
    clients that failed together do not come back together.
    `patience_s`: the longest sum of waits. A `Retry-After` beyond it is not waited for; the caller gets the
    refusal and knows what it says. 30 s: agents are used to slower tools.
    """

    attempts: int = 3
    base_s: float = 0.1
    cap_s: float = 3.0
    patience_s: float = 30.0
    sleep: Callable[[float], object] = time.sleep
    uniform: Callable[[float, float], float] = random.uniform

    def delays(self) -> Delays:
        """The waits of one request."""
        return Delays(self)


class Delays:
    """Counts the attempts of one request. Not shared between threads."""

    def __init__(self, policy: RetryPolicy) -> None:
        self._policy = policy
        self._failed = 0
        self._waited_s = 0.0

    def again(self, retry_after_s: float | None = None) -> bool:
        """After a failure: wait and say True, or say False when it has been enough."""
        policy = self._policy
        self._failed += 1
        ceiling = min(policy.cap_s, policy.base_s * 2**self._failed)
        delay = policy.uniform(0.0, ceiling) if retry_after_s is None else retry_after_s
        if self._failed >= policy.attempts or self._waited_s + delay > policy.patience_s:
            return False
        self._waited_s += delay
        policy.sleep(delay)
        return True


NO_RETRY = RetryPolicy(attempts=1)
# For the calls of a reply, which nobody waits for at a prompt: bridges a restart of the daemon.
PATIENT = RetryPolicy(attempts=8)
