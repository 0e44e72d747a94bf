"""An archive of the state: a gzipped tar whose first member lists all others with size and SHA-256.

It holds keys and tokens: who has it is the operator. What it says is checked before it is used: names stay
below the state directory, only plain files come out, each as long and as its hash says.
"""

from __future__ import annotations

import hashlib
import json
import tarfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any, Final

from exec_daemon.errors import DaemonError

MANIFEST: Final = "inband-backup.json"
FORMAT: Final = 1
_MOST_MANIFEST_BYTES: Final = 64 * 1024 * 1024
# Belongs to the process that holds it.
_NEVER: Final = frozenset(("store.db.lock",))
_PIECE_BYTES: Final = 1 << 20


class BackupError(DaemonError):
    """A backup cannot be made, read or put back; the message says why and what to do."""

    def __init__(self, message: str) -> None:
        super().__init__(message, "backup")


@dataclass(frozen=True, slots=True)
class Member:
    """One file: its name below the state directory, its length and its SHA-256."""

    name: str
    bytes: int
    sha256: str

    @property
    def is_safe(self) -> bool:
        """Does it stay below the folder that it is put into?"""
        path = PurePosixPath(self.name)
        below = (
            bool(self.name) and not path.is_absolute() and ".." not in path.parts and "\0" not in self.name
        )
        return below and self.name not in _NEVER


@dataclass(frozen=True, slots=True)
class Manifest:
    """What an archive holds. `created_at` is UTC, ISO 8601; `version` that of the program that made it."""

    created_at: str
    version: str
    members: tuple[Member, ...]

    @property
    def total_bytes(self) -> int:
        """The length of all files together."""
        return sum(member.bytes for member in self.members)

    def encode(self) -> bytes:
        """As it stands in the archive."""
        members = [{"name": m.name, "bytes": m.bytes, "sha256": m.sha256} for m in self.members]
        head = {"format": FORMAT, "created_at": self.created_at, "version": self.version}
        return json.dumps({**head, "files": members}, indent=1).encode()


def decode(content: bytes) -> Manifest:
    """Raises `BackupError` for what is no manifest of ours."""
    try:
        document: Mapping[str, Any] = json.loads(content)
        if document["format"] != FORMAT:
            raise BackupError(f"this backup has format {document['format']}, and only {FORMAT} is known here")
        members = tuple(Member(one["name"], one["bytes"], one["sha256"]) for one in document["files"])
        manifest = Manifest(document["created_at"], document["version"], members)
    except (KeyError, TypeError, ValueError) as wrong:
        raise BackupError(
            f"this is no backup of ours: its list of files cannot be read ({wrong!r})"
        ) from None
    unsafe = next((member.name for member in members if not member.is_safe), None)
    if unsafe is not None or len({member.name for member in members}) != len(members):
        raise BackupError(f"this backup is not trusted: it names {unsafe or 'a file twice'}")
    return manifest


@contextmanager
def opened(file: Path) -> Iterator[tuple[Manifest, tarfile.TarFile]]:
    """The archive and its list; raises `BackupError`."""
    try:
        with tarfile.open(file, "r:gz") as archive:
            first = archive.next()
            if first is None or first.name != MANIFEST or first.size > _MOST_MANIFEST_BYTES:
                raise BackupError(f"{file} is no backup of ours: it does not begin with {MANIFEST}")
            yield decode(content_of(archive, first).read()), archive
    except (OSError, EOFError, tarfile.TarError) as broken:
        raise BackupError(f"{file} cannot be read: {broken}") from None


def content_of(archive: tarfile.TarFile, info: tarfile.TarInfo) -> IO[bytes]:
    """The bytes of a plain file; nothing else is ever taken out."""
    found = archive.extractfile(info) if info.isreg() else None
    if found is None:
        raise BackupError(f"this backup is not trusted: {info.name} is no plain file")
    return found


def copied(source: IO[bytes], target: IO[bytes], most_bytes: int | None = None) -> tuple[int, str]:
    """Copies all of it, or a little more than `most_bytes`; its length and hash."""
    length, hashed = 0, hashlib.sha256()
    while (most_bytes is None or length <= most_bytes) and (piece := source.read(_PIECE_BYTES)):
        target.write(piece)
        hashed.update(piece)
        length += len(piece)
    return length, hashed.hexdigest()
