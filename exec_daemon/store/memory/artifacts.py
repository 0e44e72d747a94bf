"""What content jobs have kept, in memory."""

from __future__ import annotations

from exec_daemon.store.memory.state import MemoryPart
from exec_daemon.store.values import Artifact
from messaging import ArtifactRef, Job


class MemoryArtifacts(MemoryPart):
    """The `Artifacts` part of the port, and what its effect does."""

    async def artifact(self, sha256: str, identity: str | None = None) -> Artifact | None:
        newest_first = reversed(self._tables.artifacts)
        wanted = (one for one in newest_first if one.sha256 == sha256 and identity in (None, one.identity))
        return next(wanted, None)

    def _keep(self, ref: ArtifactRef, job: Job) -> None:
        kept = Artifact(
            sha256=ref.sha256,
            bytes=ref.bytes,
            content_type=ref.content_type,
            job_id=job.id,
            identity=job.identity,
        )
        self._tables.artifacts.append(kept)
