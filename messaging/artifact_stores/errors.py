"""What a store of artifacts raises.

ArtifactError
├── NoSuchArtifact    the store has no content of this reference
├── ArtifactTooLarge  the content passes the limit that was given
├── StoreBroken       the store cannot be used: disk, network, rights
└── NoUploadLeft      the parent has given fewer uploads than the tool needs
"""

from __future__ import annotations

from messaging.artifacts import ArtifactError


class NoSuchArtifact(ArtifactError):
    """The store has no content of this reference."""


class ArtifactTooLarge(ArtifactError):
    """The content has more than `most_bytes`."""

    def __init__(self, most_bytes: int) -> None:
        super().__init__(f"an artifact has at most {most_bytes} bytes here")
        self.most_bytes = most_bytes


class StoreBroken(ArtifactError):
    """The store cannot be used."""


class NoUploadLeft(ArtifactError):
    """Every upload that the parent gave is used."""
