"""`/artifacts/{sha256}`: content that a job has kept, for whoever may see such a job."""

from __future__ import annotations

import asyncio
import base64
import mimetypes
import os
from collections.abc import Iterator
from io import BufferedReader
from typing import Final

from starlette.responses import Response, StreamingResponse

from exec_daemon.access.scope import sees_all
from exec_daemon.api.problems import Refused, refuse
from exec_daemon.api.route import Ask
from exec_daemon.store import Artifact
from messaging import ErrorCode
from messaging.artifact_stores import NoSuchArtifact, StoreBroken

_BLOCK_BYTES: Final = 64 * 1024


async def one(ask: Ask) -> Response:
    """The bytes. What is foreign and what is missing answer alike (O-46)."""
    sha256 = ask.request.path_params["sha256"]
    mine = None if sees_all(ask.identity) else str(ask.identity)
    artifact = await ask.services.store.artifact(sha256, mine)
    if artifact is None:
        raise refuse(ErrorCode.NOT_FOUND, f"There is no artifact {sha256[:64]!r} that you may see.")
    try:
        file = await asyncio.to_thread(ask.services.artifacts.open, sha256)
    except NoSuchArtifact:
        text = f"Artifact {sha256} is no longer kept: it made room for others."
        raise refuse(ErrorCode.NOT_FOUND, text, job_id=artifact.job_id) from None
    except StoreBroken:
        raise _damaged(artifact) from None
    if os.fstat(file.fileno()).st_size != artifact.bytes:
        file.close()
        raise _damaged(artifact)
    return StreamingResponse(_blocks(file), headers=_headers(artifact), media_type=None)


def _damaged(artifact: Artifact) -> Refused:
    text = f"The file of artifact {artifact.sha256} is damaged."
    return refuse(ErrorCode.UNAVAILABLE, text, job_id=artifact.job_id)


def _headers(artifact: Artifact) -> dict[str, str]:
    """Never shown in our origin: it is a download, of the type that was told, and nothing in it may run.

    `Repr-Digest` (RFC 9530) is for the client to compare (M-84).
    """
    essence = artifact.content_type.partition(";")[0]
    name = artifact.sha256[:16] + (mimetypes.guess_extension(essence) or ".bin")
    digest = base64.b64encode(bytes.fromhex(artifact.sha256)).decode()
    return {
        "content-type": artifact.content_type,
        "content-length": str(artifact.bytes),
        "content-disposition": f'attachment; filename="{name}"',
        "content-security-policy": "sandbox; default-src 'none'",
        "x-content-type-options": "nosniff",
        "cache-control": "no-store",
        "repr-digest": f"sha-256=:{digest}:",
    }


def _blocks(file: BufferedReader) -> Iterator[bytes]:
    with file:
        while block := file.read(_BLOCK_BYTES):
            yield block
