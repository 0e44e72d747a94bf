"""A reference to content that is too large, or not text, to stand in an event (M-80, M-81, M-84).

    ArtifactError
    ├── BadArtifactRef      the document is no reference
    └── ArtifactMismatch    the content is not what the reference says

The stores that keep the content are in `messaging.artifact_stores`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from messaging.errors import MessagingError

SHA256: Final = re.compile(r"[0-9a-f]{64}")
# RFC 9110 8.3: type, subtype and parameters, in the characters that a header field can hold.
CONTENT_TYPE: Final = re.compile(r"[\w.+-]{1,64}/[\w.+-]{1,64}(?:;[\x20-\x7e]{1,128})?", re.ASCII)
BINARY: Final = "application/octet-stream"


class ArtifactError(MessagingError):
    """Root of what goes wrong with an artifact."""


class BadArtifactRef(ArtifactError, ValueError):
    """The document is no reference to an artifact."""


class ArtifactMismatch(ArtifactError):
    """The content is another than the reference says: the typed error `artifact_mismatch` (M-84)."""

    code: Final = "artifact_mismatch"

    def __init__(self, ref: ArtifactRef, found_bytes: int, found_sha256: str) -> None:
        super().__init__(
            f"artifact {ref.sha256} of {ref.bytes} bytes: {found_bytes} bytes with {found_sha256} were found"
        )
        self.ref = ref
        self.found_bytes = found_bytes
        self.found_sha256 = found_sha256


@dataclass(frozen=True, slots=True, kw_only=True)
class ArtifactRef:
    """Where the content is, and what it must be: `sha256` is 64 lower-case hexadecimal digits."""

    uri: str
    sha256: str
    bytes: int
    content_type: str

    def __post_init__(self) -> None:
        for name, holds in _RULES.items():
            if not holds(getattr(self, name)):
                raise BadArtifactRef(f"{name} of an artifact cannot be {str(getattr(self, name))[:100]!r}")

    def to_json(self) -> dict[str, Any]:
        """`{uri, sha256, bytes, content_type}`."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> ArtifactRef:
        """The inverse of `to_json`; raises `BadArtifactRef`, also for a key too many."""
        if document.keys() != cls.__dataclass_fields__.keys():
            raise BadArtifactRef(f"an artifact has the keys {', '.join(cls.__dataclass_fields__)}")
        return cls(**document)


_RULES: Final[Mapping[str, Callable[[Any], bool]]] = {
    "uri": lambda uri: isinstance(uri, str) and uri != "",
    "sha256": lambda sha256: isinstance(sha256, str) and SHA256.fullmatch(sha256) is not None,
    "bytes": lambda count: isinstance(count, int) and not isinstance(count, bool) and count >= 0,
    "content_type": lambda kind: isinstance(kind, str) and CONTENT_TYPE.fullmatch(kind) is not None,
}


def artifact_in(result: Any) -> ArtifactRef | None:
    """The reference that a result holds under its key `artifact`, where results of ours have theirs."""
    document = result.get("artifact") if isinstance(result, Mapping) else None
    try:
        return ArtifactRef.from_json(document) if isinstance(document, Mapping) else None
    except BadArtifactRef:
        return None


def sha256_of(content: bytes) -> str:
    """The name that content has in every store."""
    return hashlib.sha256(content).hexdigest()


def verify_artifact(ref: ArtifactRef, content: bytes) -> bytes:
    """`content`, if it is what `ref` says; raises `ArtifactMismatch`. The length is compared first."""
    if len(content) != ref.bytes or sha256_of(content) != ref.sha256:
        raise ArtifactMismatch(ref, len(content), sha256_of(content))
    return content
