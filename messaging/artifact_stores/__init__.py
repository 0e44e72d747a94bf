"""Where the content of artifacts is kept: a folder, a bucket, or a parent's pre-signed URLs (M-80 to M-85).

boto3 (the extra `[s3]`) and httpx2 are loaded when what needs them is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from messaging.artifact_stores.errors import ArtifactTooLarge, NoSuchArtifact, NoUploadLeft, StoreBroken
from messaging.artifact_stores.local import Kept, LocalStore
from messaging.artifact_stores.offload import MOST_RESULT_BYTES, Attachment, Produced, Told, offload
from messaging.artifact_stores.port import ArtifactStore, ReadableStore
from messaging.artifact_stores.prune import kept_bytes, prune, sweep
from messaging.artifact_stores.selection import artifact_store

if TYPE_CHECKING:
    from messaging.artifact_stores.s3 import Bucket, S3Store
    from messaging.artifact_stores.upload import Upload, UploadStore

_LAZY = {"Bucket": "s3", "S3Store": "s3", "Upload": "upload", "UploadStore": "upload"}

__all__ = [
    "MOST_RESULT_BYTES",
    "ArtifactStore",
    "ArtifactTooLarge",
    "Attachment",
    "Bucket",
    "Kept",
    "LocalStore",
    "NoSuchArtifact",
    "NoUploadLeft",
    "Produced",
    "ReadableStore",
    "S3Store",
    "StoreBroken",
    "Told",
    "Upload",
    "UploadStore",
    "artifact_store",
    "kept_bytes",
    "offload",
    "prune",
    "sweep",
]


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(f"messaging.artifact_stores.{_LAZY[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
