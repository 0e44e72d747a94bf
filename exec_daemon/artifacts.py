"""The daemon's artifacts: content in a folder under its hash, told by the address `/artifacts/<sha256>`."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from io import BufferedReader, BytesIO
from mimetypes import MimeTypes
from pathlib import Path
from threading import Lock
from typing import BinaryIO, Final

from exec_daemon.beneath import open_beneath
from messaging import ArtifactRef, CallError, ErrorCode, error
from messaging.artifact_stores import ArtifactTooLarge, LocalStore, StoreBroken, kept_bytes, prune, sweep
from messaging.artifacts import BINARY

log = logging.getLogger(__name__)

# Python's own table: what a file is taken for does not depend on the machine.
_TYPES: Final = MimeTypes()


class Artifacts:
    """Keeps content and gives it back. Files of `folders` may be kept; relative paths mean the first.

    `most_bytes` bounds one artifact, `room_bytes` all of them: what was put longest ago makes room.
    """

    def __init__(self, root: Path, folders: Sequence[Path], *, most_bytes: int, room_bytes: int) -> None:
        self._root = root
        self._store = LocalStore(root)
        self._folders = tuple(folders)
        self._most_bytes = most_bytes
        self._room_bytes = room_bytes
        self._lock = Lock()  # readings are kept from threads of their own
        self._kept_bytes: int | None = None

    def sweep(self) -> None:
        """Removes what a crash left unfinished; for the start."""
        sweep(self._root)

    def keep(self, source: BinaryIO, content_type: str) -> ArtifactRef:
        """Copies `source`; blocks. Raises `ArtifactTooLarge` and `StoreBroken`."""
        kept = self._store.keep(source, self._most_bytes)
        self._make_room(kept.bytes)
        return ArtifactRef(
            uri=f"/artifacts/{kept.sha256}", sha256=kept.sha256, bytes=kept.bytes, content_type=content_type
        )

    async def content(self, content: bytes, content_type: str) -> ArtifactRef:
        """Keeps `content`; raises as `keep`."""
        return await asyncio.to_thread(self.keep, BytesIO(content), content_type)

    async def file(self, path: str, content_type: str | None) -> ArtifactRef | CallError:
        """Keeps the file, or says why not. What is missing and what is closed answer alike."""
        return await asyncio.to_thread(self._file, path, content_type)

    def open(self, sha256: str) -> BufferedReader:
        """The content of this hash; raises `NoSuchArtifact` and `StoreBroken`."""
        return self._store.open(sha256)

    def _make_room(self, fresh_bytes: int) -> None:
        """Content that was there already counts twice until the next look at the folder: no harm."""
        with self._lock:
            known = self._kept_bytes
            self._kept_bytes = kept_bytes(self._root) if known is None else known + fresh_bytes
            if self._kept_bytes > self._room_bytes:
                self._kept_bytes = prune(self._root, self._room_bytes)

    def _file(self, path: str, content_type: str | None) -> ArtifactRef | CallError:
        source = open_beneath(self._folders, path)
        if source is None:
            where = "the outbox of the state directory and in the folders of the setting artifacts.folders"
            return error(ErrorCode.NOT_FOUND, f"There is no file {path[:200]!r} in {where}.")
        guessed = _TYPES.guess_type(path)[0] or BINARY
        try:
            with source:
                return self.keep(source, content_type or guessed)
        except ArtifactTooLarge as large:
            return error(ErrorCode.TOO_LARGE, f"The file passes {large.most_bytes} bytes.")
        except (StoreBroken, OSError) as fault:
            log.warning("an artifact could not be kept: %s", fault)
            return error(ErrorCode.UNAVAILABLE, "The file cannot be kept now; the daemon's log says why.")
