"""Artifacts in a folder, each under its hash: `sha256/ab/<hash>` (M-83, M-84).

A file comes into being whole or not at all: it is written beside its place, synced, then renamed. Folders
are 0700 and files 0600. No component below the root may be a link, and none is followed.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import BufferedReader, BytesIO
from pathlib import Path
from secrets import token_hex
from typing import BinaryIO, Final

from messaging.artifact_stores.errors import ArtifactTooLarge, NoSuchArtifact, StoreBroken
from messaging.artifacts import SHA256, ArtifactMismatch, ArtifactRef

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FRESH: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
# O_NONBLOCK: opening a FIFO must not hang before the check.
_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_BLOCK_BYTES: Final = 1024 * 1024
# No limit of the store's own: who fills it has one.
_UNLIMITED: Final = 2**63


@dataclass(frozen=True, slots=True)
class Kept:
    """What was written: its hash is its name."""

    sha256: str
    bytes: int


class LocalStore:
    """A folder of artifacts. Each method blocks; `put` and `get` have threads do the work."""

    def __init__(self, root: Path) -> None:
        self._root = root.absolute()

    async def put(self, content: bytes, content_type: str) -> ArtifactRef:
        kept = await asyncio.to_thread(self.keep, BytesIO(content))
        return ArtifactRef(
            uri=self._path(kept.sha256).as_uri(),
            sha256=kept.sha256,
            bytes=kept.bytes,
            content_type=content_type,
        )

    async def get(self, ref: ArtifactRef) -> bytes:
        return await asyncio.to_thread(self._verified, ref)

    def keep(self, source: BinaryIO, most_bytes: int = _UNLIMITED) -> Kept:
        """Copies `source` to its end; raises `ArtifactTooLarge` and `StoreBroken`."""
        with _broken(self._root), self._folder("incoming") as incoming:
            name = token_hex(16)
            try:
                kept = _write(incoming, name, source, most_bytes)
                self._place(incoming, name, kept)
            finally:
                with suppress(FileNotFoundError):
                    os.unlink(name, dir_fd=incoming)
        return kept

    def open(self, sha256: str) -> BufferedReader:
        """The content of this hash, for reading; raises `NoSuchArtifact` and `StoreBroken`."""
        if not SHA256.fullmatch(sha256):
            raise NoSuchArtifact("an artifact is named by 64 lower-case hexadecimal digits")
        try:
            with _broken(self._root), self._folder("sha256", sha256[:2]) as folder:
                return _opened(sha256, folder)
        except FileNotFoundError:
            raise NoSuchArtifact(f"there is no artifact {sha256}") from None

    def _verified(self, ref: ArtifactRef) -> bytes:
        """One byte too many is enough to know that the content is another."""
        with self.open(ref.sha256) as file:
            content = file.read(ref.bytes + 1)
            size = os.fstat(file.fileno()).st_size
        found = hashlib.sha256(content).hexdigest()
        if size != ref.bytes or found != ref.sha256:
            raise ArtifactMismatch(ref, size, found)
        return content

    def _path(self, sha256: str) -> Path:
        return self._root / "sha256" / sha256[:2] / sha256

    def _place(self, incoming: int, name: str, kept: Kept) -> None:
        """Into its place, unless the same content is there, which is as if put now; damaged is replaced."""
        with self._folder("sha256", kept.sha256[:2]) as folder:
            if _holds(folder, kept):
                os.utime(kept.sha256, dir_fd=folder, follow_symlinks=False)
                return
            os.rename(name, kept.sha256, src_dir_fd=incoming, dst_dir_fd=folder)
            os.fsync(folder)

    @contextmanager
    def _folder(self, *names: str) -> Iterator[int]:
        """A descriptor of the folder below the root; folders are made where they are missing."""
        self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(self._root, _FOLDER)
        try:
            for name in names:
                outer, descriptor = descriptor, _entered(descriptor, name)
                os.close(outer)
            yield descriptor
        finally:
            os.close(descriptor)


def _entered(outer: int, name: str) -> int:
    with suppress(FileExistsError):
        os.mkdir(name, 0o700, dir_fd=outer)
        os.fsync(outer)
    return os.open(name, _FOLDER, dir_fd=outer)


def _write(folder: int, name: str, source: BinaryIO, most_bytes: int) -> Kept:
    hashed, count = hashlib.sha256(), 0
    with os.fdopen(os.open(name, _FRESH, 0o600, dir_fd=folder), "wb") as file:
        while block := source.read(_BLOCK_BYTES):
            count += len(block)
            if count > most_bytes:
                raise ArtifactTooLarge(most_bytes)
            hashed.update(block)
            file.write(block)
        file.flush()
        os.fsync(file.fileno())
    return Kept(hashed.hexdigest(), count)


def _opened(name: str, folder: int) -> BufferedReader:
    file = os.fdopen(os.open(name, _READ, dir_fd=folder), "rb")
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise StoreBroken(f"{name} is no regular file")
    return file


def _holds(folder: int, kept: Kept) -> bool:
    try:
        with _opened(kept.sha256, folder) as file:
            return hashlib.file_digest(file, "sha256").hexdigest() == kept.sha256
    except (OSError, StoreBroken):
        return False


@contextmanager
def _broken(root: Path) -> Iterator[None]:
    """What the system says against it, in words; a missing file is the caller's to judge."""
    try:
        yield
    except FileNotFoundError:
        raise
    except OSError as fault:
        raise StoreBroken(f"the artifacts in {root} cannot be used: {fault.strerror}") from fault
