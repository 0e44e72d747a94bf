"""`callback`: one POST an event, signed, retried, in order (M-26, M-30 to M-42)."""

from __future__ import annotations

import asyncio
import random
import ssl
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import httpx2

from messaging.events import JobEvent
from messaging.signature import SIGNATURE, sign, webhook_headers
from messaging.sinks.errors import SinkClosed, Undelivered
from messaging.sinks.retry import Retries, Verdict, retry_after_s, verdict

# M-41: a receiver stores one small event; one that needs longer is not well.
_TIMEOUT_S: Final = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Callback:
    """Where events go, and how. `url` has passed `check_target`; `ca_file` vouches for a private server.

    `standard_webhooks` adds the three headers of that specification; it needs a secret.
    """

    url: str
    secret: str | None = None
    ca_file: Path | None = None
    standard_webhooks: bool = False
    retries: Retries = field(default_factory=Retries)
    timeout_s: float = _TIMEOUT_S


class CallbackSink:
    """One event after the other: the next one is sent when the one before has been taken or given up."""

    def __init__(
        self,
        callback: Callback,
        *,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        uniform: Callable[[float, float], float] = random.uniform,
        unix_s: Callable[[], float] = time.time,
    ) -> None:
        self._callback = callback
        self._sleep = sleep
        self._uniform = uniform
        self._unix_s = unix_s
        self._one_at_a_time = asyncio.Lock()
        self._closed = False
        # No redirects (M-35), and no proxy from the environment: both would take events past the list.
        self._client = httpx2.AsyncClient(
            follow_redirects=False,
            trust_env=False,
            timeout=callback.timeout_s,
            verify=_trust(callback.ca_file),
        )

    async def emit(self, event: JobEvent) -> None:
        """Raises `Undelivered`."""
        body = event.encode()  # M-42: the same bytes for the signature and for each attempt
        async with self._one_at_a_time:
            if self._closed:
                raise SinkClosed("the sink is closed")
            await self._deliver(event, body)

    async def close(self) -> None:
        async with self._one_at_a_time:
            self._closed = True
            await self._client.aclose()

    async def _deliver(self, event: JobEvent, body: bytes) -> None:
        failed = 0
        while True:
            answer, reason = await self._attempt(event, body)
            judged = Verdict.AGAIN if answer is None else verdict(answer.status_code)
            if judged is Verdict.DELIVERED:
                return
            failed += 1
            wait_s = self._callback.retries.wait_s(failed, self._pause_s(answer), self._uniform)
            if judged is Verdict.REFUSED or wait_s is None:
                raise Undelivered(event.key, failed, reason, refused=judged is Verdict.REFUSED)
            await self._sleep(wait_s)

    async def _attempt(self, event: JobEvent, body: bytes) -> tuple[httpx2.Response | None, str]:
        """The answer, and in words what it was; None where there was none."""
        try:
            async with asyncio.timeout(self._callback.timeout_s):  # also ends an answer that trickles in
                answer = await self._client.post(
                    self._callback.url, content=body, headers=self._headers(event, body)
                )
        except TimeoutError:
            return None, f"no answer within {self._callback.timeout_s:g} s"
        except httpx2.HTTPError as failure:
            return None, type(failure).__name__
        return answer, f"HTTP {answer.status_code}"

    def _headers(self, event: JobEvent, body: bytes) -> dict[str, str]:
        headers = {"content-type": "application/json", "Idempotency-Key": event.key}
        secret = self._callback.secret
        if secret:
            headers[SIGNATURE] = sign(secret, body)
            if self._callback.standard_webhooks:
                headers |= webhook_headers(secret, event.key, int(self._unix_s()), body)
        return headers

    def _pause_s(self, answer: httpx2.Response | None) -> float | None:
        if answer is None:
            return None
        return retry_after_s(answer.headers.get("retry-after"), datetime.fromtimestamp(self._unix_s(), UTC))


def _trust(ca_file: Path | None) -> ssl.SSLContext | bool:
    return True if ca_file is None else ssl.create_default_context(cafile=str(ca_file))
