"""What every store of artifacts promises; the bucket is one of a server of its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from messaging import ArtifactMismatch, ArtifactRef, verify_artifact
from messaging.artifact_stores import (
    ArtifactStore,
    LocalStore,
    NoSuchArtifact,
    ReadableStore,
    S3Store,
    UploadStore,
)
from messaging.artifacts import sha256_of
from tests.integration._s3_server import CREDENTIALS, S3Server, s3_server

CONTENT = b"\x00soup\r\n\xff" * 1000


@pytest.fixture(scope="module")
def server() -> Iterator[S3Server]:
    with pytest.MonkeyPatch.context() as environment, s3_server() as running:
        for name, value in CREDENTIALS.items():
            environment.setenv(name, value)
        yield running


@pytest.fixture(params=["local", "s3"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> ReadableStore:
    if request.param == "local":
        return LocalStore(tmp_path / "artifacts")
    return S3Store(request.getfixturevalue("server").bucket)


@pytest.fixture(params=["local", "s3", "upload"])
async def place(
    request: pytest.FixtureRequest, tmp_path: Path
) -> AsyncIterator[tuple[ArtifactStore, ReadableStore]]:
    """Where a tool puts, and where its parent reads."""
    if request.param == "local":
        store: ReadableStore = LocalStore(tmp_path / "artifacts")
        yield store, store
        return
    parent = S3Store(request.getfixturevalue("server").bucket)
    uploads = [
        await parent.mint(f"job-{request.node.name.partition('[')[0][:60]}", number) for number in range(2)
    ]
    yield (parent if request.param == "s3" else UploadStore(uploads)), parent


async def test_what_a_tool_puts_its_parent_reads(place: tuple[ArtifactStore, ReadableStore]) -> None:
    # M-80, M-82, M-84
    tool, parent = place
    ref = await tool.put(CONTENT, "application/x-soup")
    assert (ref.sha256, ref.bytes, ref.content_type) == (
        sha256_of(CONTENT),
        len(CONTENT),
        "application/x-soup",
    )
    assert await parent.get(ref) == verify_artifact(ref, CONTENT)


async def test_content_may_be_empty(place: tuple[ArtifactStore, ReadableStore]) -> None:
    tool, parent = place
    assert await parent.get(await tool.put(b"", "text/plain")) == b""


async def test_the_same_content_twice_is_one_artifact(store: ReadableStore) -> None:  # M-83
    assert await store.put(CONTENT, "text/plain") == await store.put(CONTENT, "text/plain")


@pytest.mark.parametrize("length", [3, len(CONTENT) + 1])
async def test_a_reference_with_another_length_is_a_mismatch(store: ReadableStore, length: int) -> None:
    # M-84
    ref = await store.put(CONTENT, "text/plain")
    with pytest.raises(ArtifactMismatch):
        await store.get(replace(ref, bytes=length))


async def test_a_reference_to_nothing_says_so(store: ReadableStore) -> None:
    ref = await store.put(CONTENT, "text/plain")
    other = sha256_of(b"other")
    with pytest.raises(NoSuchArtifact):
        await store.get(replace(ref, uri=ref.uri.replace(ref.sha256, other), sha256=other))


@pytest.mark.parametrize("uri", ["file:///etc/hostname", "s3://another/key", "s3://artifacts/other/key", "x"])
async def test_a_reference_never_leads_out_of_the_store(store: ReadableStore, uri: str) -> None:
    """A tool that was talked into it may name any file of its parent's: it is not read."""
    secret = sha256_of(b"secret")
    with pytest.raises(NoSuchArtifact):
        await store.get(ArtifactRef(uri=uri, sha256=secret, bytes=6, content_type="text/plain"))


def test_without_its_extra_a_bucket_says_which_one_it_needs() -> None:
    program = (
        "import sys; sys.modules['boto3'] = None\n"
        "try: from messaging.artifact_stores import S3Store\n"
        "except ImportError as missing: print(missing)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)
    assert done.stdout == "buckets need the extra s3: inband[s3]\n"
