"""What makes a request happen once (J-07 to J-12), pure.

The answer to a command that changes something is kept under the identity and the request's id. The same
request again gets the kept answer; the id with other content is refused. An answer that says "try again" is
not kept: a client that does would get it for ever.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from messaging.canonical import digest
from messaging.rpc.codes import RpcCode, RpcError, rpc_error
from messaging.rpc.frames import Request

# J-12: clients repeat within minutes; a day covers a laptop that slept over night.
KEPT_FOR: Final = timedelta(hours=24)
# For each identity: at some 300 bytes an answer, about 3 MB.
MOST_KEPT: Final = 10_000


@dataclass(frozen=True, slots=True)
class Earlier:
    """What is known of a request with the same id: its digest, and its answer unless it still runs."""

    digest: str
    answer: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Replay:
    """The same request again: give it this answer, or the one that the running one will get."""

    answer: Mapping[str, Any] | None


def request_digest(request: Request) -> str:
    """Equal for requests that say the same: neither the order of keys nor spacing counts (J-09)."""
    return digest(request.type, dict(request.payload))


def judge(earlier: Earlier | None, request: Request) -> Replay | RpcError | None:
    """None: run it. An error: the id stands for another request (J-08)."""
    if earlier is None:
        return None
    if earlier.digest == request_digest(request):
        return Replay(earlier.answer)
    text = f"The id {request.id[:64]!r} stands for another request. Choose a new one."
    return rpc_error(RpcCode.INVALID_REQUEST, text, reason="duplicate_id")


def keeps(answer: Mapping[str, Any]) -> bool:
    """Is this answer kept (J-11)?"""
    return bool(answer["ok"]) or not answer["error"]["retryable"]
