"""Values of the RPC that outlive a connection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class RpcAnswer:
    """The answer that the RPC request `id` of `identity` got; `digest` is of the request."""

    identity: str
    id: str
    digest: str
    answer: Mapping[str, Any]
    at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RpcTask:
    """A task of the RPC as it stood last: what it needs to be opened again."""

    identity: str
    id: str
    provider: str
    model: str | None
    folder: str | None
    state: str
