"""The port that tools and their parents keep artifacts behind; `tests/contracts` has its suite."""

from __future__ import annotations

from typing import Protocol

from messaging.artifacts import ArtifactRef


class ArtifactStore(Protocol):
    """Takes content. The same content twice is one artifact, where a store can know."""

    async def put(self, content: bytes, content_type: str) -> ArtifactRef:
        """Keeps `content`; when this returns it is durable. Raises `ArtifactError`."""
        ...


class ReadableStore(ArtifactStore, Protocol):
    """Gives content back."""

    async def get(self, ref: ArtifactRef) -> bytes:
        """The content, compared with `ref` (M-84).

        Raises `NoSuchArtifact`, `ArtifactMismatch`, `StoreBroken`. Only what is in this store is read,
        whatever the URI says.
        """
        ...
