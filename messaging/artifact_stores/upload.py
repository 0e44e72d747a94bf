"""Artifacts through pre-signed URLs of the parent's: a tool uploads and holds no credentials (M-82, M-85)."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import httpx2

from messaging.artifact_stores.errors import NoUploadLeft, StoreBroken
from messaging.artifacts import ArtifactRef, sha256_of
from messaging.redaction import redact
from messaging.sinks.retry import Retries, Verdict, verdict

_TIMEOUT_S: Final = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """Leave to put one object. `url` is a secret, so it is not shown; `uri` is the object's name."""

    url: str = field(repr=False)
    uri: str


class UploadStore:
    """Uses the uploads in order, one an artifact. The content type goes with it, unsigned."""

    def __init__(
        self,
        uploads: Sequence[Upload],
        *,
        retries: Retries | None = None,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        uniform: Callable[[float, float], float] = random.uniform,
    ) -> None:
        self._left = list(uploads)
        self._retries = retries or Retries()
        self._sleep = sleep
        self._uniform = uniform

    async def put(self, content: bytes, content_type: str) -> ArtifactRef:
        """Raises `NoUploadLeft` and `StoreBroken`."""
        if not self._left:
            raise NoUploadLeft("the parent gave no further upload")
        upload = self._left.pop(0)
        await self._upload(upload, content, content_type)
        return ArtifactRef(
            uri=upload.uri, sha256=sha256_of(content), bytes=len(content), content_type=content_type
        )

    async def _upload(self, upload: Upload, content: bytes, content_type: str) -> None:
        """No redirects and no proxy: the parent's URL is where the content may go."""
        failed = 0
        async with httpx2.AsyncClient(trust_env=False, timeout=_TIMEOUT_S) as client:
            while (reason := await _attempt(client, upload.url, content, content_type)) is not None:
                failed += 1
                wait_s = self._retries.wait_s(failed, None, self._uniform)
                if wait_s is None or reason.judged is Verdict.REFUSED:
                    raise StoreBroken(f"{upload.uri} was not taken after {failed} attempts: {reason.text}")
                await self._sleep(wait_s)


@dataclass(frozen=True, slots=True)
class _Failed:
    judged: Verdict
    text: str


async def _attempt(client: httpx2.AsyncClient, url: str, content: bytes, content_type: str) -> _Failed | None:
    try:
        answer = await client.put(url, content=content, headers={"content-type": content_type})
    except httpx2.HTTPError as failure:
        return _Failed(Verdict.AGAIN, type(failure).__name__)
    judged = verdict(answer.status_code)
    return None if judged is Verdict.DELIVERED else _Failed(judged, f"HTTP {answer.status_code}")


class _NoSignatures(logging.Filter):
    """The client logs each URL that it asks; in ours stands a signature."""

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.args, tuple):
            record.args = tuple(_shown(value) for value in record.args)
        return True


def _shown(value: Any) -> Any:
    return redact(str(value)) if isinstance(value, str | httpx2.URL) else value


logging.getLogger("httpx2").addFilter(_NoSignatures())
