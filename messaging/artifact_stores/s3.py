"""Artifacts in a bucket of S3 or MinIO, for the parent (M-82, M-84, M-85). Needs the extra `[s3]`.

The parent alone has credentials, from where boto3 looks for them. A tool gets uploads: URLs that put one
object each, for a short time. Such a URL is a secret; its `uri` is what events and logs name.
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from messaging.artifact_stores.errors import NoSuchArtifact, StoreBroken
from messaging.artifact_stores.upload import Upload
from messaging.artifacts import ArtifactMismatch, ArtifactRef, sha256_of, verify_artifact

try:
    import boto3
    from botocore.config import Config
    from botocore.exceptions import BotoCoreError, ClientError
except ImportError as missing:
    raise ImportError("buckets need the extra s3: inband[s3]") from missing

T = TypeVar("T")

# Long enough for a video to be fetched and worked on, too short to be of use when found in a log.
UPLOAD_EXPIRES_S: Final = 3600
_TIMEOUT_S: Final = 10
_MISSING: Final = frozenset({"404", "NoSuchKey", "NotFound"})
# Signature 4 is the one that MinIO and every region of AWS take.
_CONFIG: Final = Config(
    signature_version="s3v4",
    connect_timeout=_TIMEOUT_S,
    read_timeout=_TIMEOUT_S,
    retries={"mode": "standard"},
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bucket:
    """Which bucket. `endpoint_url` is for MinIO and others; `prefix` begins each key and ends with `/`."""

    name: str
    endpoint_url: str | None = None
    region: str = "us-east-1"
    prefix: str = ""


class S3Store:
    """The artifacts of one bucket. boto3 blocks, so each call has a thread."""

    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket
        self._client: Any = boto3.client(
            "s3", endpoint_url=bucket.endpoint_url, region_name=bucket.region, config=_CONFIG
        )

    async def put(self, content: bytes, content_type: str) -> ArtifactRef:
        """Puts it under its hash; S3 compares the hash before it keeps anything."""
        sha256 = sha256_of(content)
        key = f"{self._bucket.prefix}sha256/{sha256[:2]}/{sha256}"
        checksum = base64.b64encode(bytes.fromhex(sha256)).decode()
        await self._call(
            lambda: self._client.put_object(
                Bucket=self._bucket.name,
                Key=key,
                Body=content,
                ContentType=content_type,
                ChecksumSHA256=checksum,
            )
        )
        return ArtifactRef(uri=self._uri(key), sha256=sha256, bytes=len(content), content_type=content_type)

    async def get(self, ref: ArtifactRef) -> bytes:
        """The length is asked for first: what is too long is not fetched."""
        key = self._key(ref)
        head = await self._call(lambda: self._client.head_object(Bucket=self._bucket.name, Key=key))
        if head["ContentLength"] != ref.bytes:
            raise ArtifactMismatch(ref, head["ContentLength"], "another hash")
        return verify_artifact(ref, await self._call(lambda: self._content(key, ref.bytes)))

    async def mint(self, job_id: str, number: int = 0, expires_s: int = UPLOAD_EXPIRES_S) -> Upload:
        """Leave for a tool to put one object, and nothing else (M-82)."""
        key = f"{self._bucket.prefix}jobs/{job_id}/{number}"
        url = await self._call(
            lambda: self._client.generate_presigned_url(
                "put_object", Params={"Bucket": self._bucket.name, "Key": key}, ExpiresIn=expires_s
            )
        )
        return Upload(url=url, uri=self._uri(key))

    def _content(self, key: str, most_bytes: int) -> bytes:
        body = self._client.get_object(Bucket=self._bucket.name, Key=key)["Body"]
        try:
            content: bytes = body.read(most_bytes + 1)
        finally:
            body.close()
        return content

    def _uri(self, key: str) -> str:
        return f"s3://{self._bucket.name}/{key}"

    def _key(self, ref: ArtifactRef) -> str:
        begins = self._uri(self._bucket.prefix)
        if not ref.uri.startswith(begins) or ref.uri == begins:
            raise NoSuchArtifact(f"artifact {ref.sha256} is not in the bucket {self._bucket.name}")
        return self._bucket.prefix + ref.uri.removeprefix(begins)

    async def _call(self, call: Callable[[], T]) -> T:
        try:
            return await asyncio.to_thread(call)
        except ClientError as failure:
            code = str(failure.response.get("Error", {}).get("Code", ""))
            if code in _MISSING:
                raise NoSuchArtifact(f"the bucket {self._bucket.name} has no such object") from None
            raise StoreBroken(f"the bucket {self._bucket.name} answered {code}") from None
        except BotoCoreError as failure:
            raise StoreBroken(f"the bucket {self._bucket.name}: {type(failure).__name__}") from None
