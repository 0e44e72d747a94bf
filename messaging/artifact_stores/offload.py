"""What a tool made becomes what its last event says: what is large or binary is a reference (M-81)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from messaging.artifact_stores.errors import ArtifactTooLarge
from messaging.artifact_stores.port import ArtifactStore
from messaging.artifacts import ArtifactRef

# M-81. A quarter of what a receiver takes of one event (M-52), so that JSON escaping cannot pass it.
MOST_RESULT_BYTES: Final = 256 * 1024
JSON: Final = "application/json"


@dataclass(frozen=True, slots=True)
class Attachment:
    """Content that belongs to a result and is no JSON, such as the page that a text was taken from."""

    content: bytes
    content_type: str


@dataclass(frozen=True, slots=True)
class Produced:
    """What a tool's work came to: a JSON result, and what is kept beside it where there is a store."""

    result: Any
    attachments: Sequence[Attachment] = ()


@dataclass(frozen=True, slots=True)
class Told:
    """What the `succeeded` event says."""

    result: Any
    artifacts: tuple[ArtifactRef, ...] = ()


async def offload(produced: Produced, store: ArtifactStore | None) -> Told:
    """A result over 256 KiB goes to `store`, and `{"artifact": …}` stands for it. Attachments go there too.

    Without a store attachments are left out, and a large result raises `ArtifactTooLarge`. Raises what
    the store raises.
    """
    content = _encoded(produced.result)
    large = len(content) > MOST_RESULT_BYTES
    if store is None:
        if large:
            raise ArtifactTooLarge(MOST_RESULT_BYTES)
        return Told(produced.result)
    refs = [await store.put(each.content, each.content_type) for each in produced.attachments]
    if not large:
        return Told(produced.result, tuple(refs))
    whole = await store.put(content, JSON)
    return Told({"artifact": whole.to_json()}, (*refs, whole))


def _encoded(result: Any) -> bytes:
    """As events write JSON; a lone surrogate, no UTF-8, becomes `?`."""
    text = json.dumps(result, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")
