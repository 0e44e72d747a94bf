"""`artifact.put`, and every result that is kept as an artifact: where the content is."""

from __future__ import annotations

from typing import Any

from harvester.formatters.plain import member, plain
from messaging import artifact_in


def kept(data: Any) -> str:
    """One line."""
    ref = artifact_in(data)
    if ref is None or len(data) > 1:
        return plain(data)
    return f"kept as artifact {ref.sha256}, {member('size_bytes', ref.bytes)} of {ref.content_type}"
