"""A reference to content that is too large, or not text, to stand in an event (M-80, M-81)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtifactRef:
    """Where the content is, and what it must be: `sha256` is 64 lower-case hexadecimal digits."""

    uri: str
    sha256: str
    bytes: int
    content_type: str

    def to_json(self) -> dict[str, Any]:
        """`{uri, sha256, bytes, content_type}`."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}
