"""An archive of the state: a gzipped tar whose first member lists all others with size and SHA-256.

It holds keys and tokens: who has it is the operator. What it says is checked before it is used: names stay
below the state directory, only plain files come out, each as long and as its hash says.
"""

from __future__ import annotations

import hashlib
import json
import os
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any, Final

from exec_daemon.errors import DaemonError

MANIFEST: Final = "inband-backup.json"
FORMAT: Final = 1
_MOST_MANIFEST_BYTES: Final = 64 * 1024 * 1024
# What is made anew at each start, what only helps SQLite, and logs, which no program reads.
# No backup takes it, so an archive that has it is none of ours. The store itself is copied by SQLite.
_LEFT_OUT: Final = frozenset(("store.db-wal", "store.db-shm", "store.db.lock", "daemon.json"))
_LEFT_OUT_ENDINGS: Final = (".log", ".log.1", ".log.2", ".sock")
# Folders beside the state that hold what was there before a restore.
BEFORE: Final = "before-restore-"
_LEFT_OUT_BEGINNINGS: Final = (BEFORE, ".")
_PIECE_BYTES: Final = 1 << 20


class BackupError(DaemonError):
    """A backup cannot be made, read or put back; the message says why and what to do."""

    def __init__(self, message: str) -> None:
        super().__init__(message, "backup")


def is_kept(name: str) -> bool:
    """Is a file or folder of this name, without the folders that it lies in, part of a backup?"""
    return not (
        name in _LEFT_OUT or name.endswith(_LEFT_OUT_ENDINGS) or name.startswith(_LEFT_OUT_BEGINNINGS)
    )


@dataclass(frozen=True, slots=True)
class Member:
    """One file: its name below the state directory, its length and its SHA-256."""

    name: str
    bytes: int
    sha256: str

    @property
    def is_safe(self) -> bool:
        """Is it a name that `take` writes? In one way only: `./x` and `x/` would be further names of `x`."""
        parts = PurePosixPath(self.name).parts
        return (
            bool(parts)
            and "/".join(parts) == self.name
            and "\0" not in self.name
            and all(map(is_kept, parts))
        )


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
        # Not our strict reader: a name that is no UTF-8 has half characters, as from `os.fsdecode`.
        manifest = _manifest(json.loads(content))
    except (ValueError, RecursionError) as wrong:
        text = f"this is no backup of ours: its list of files cannot be read ({wrong})"
        raise BackupError(text) from None
    names = [member.name for member in manifest.members]
    unsafe = next((repr(member.name)[:200] for member in manifest.members if not member.is_safe), None)
    if unsafe is not None or len(set(names)) != len(names):
        raise BackupError(f"this backup is not trusted: it names {unsafe or 'a file twice'}")
    return manifest


def _manifest(document: Any) -> Manifest:
    """Raises ValueError, also for names that no file can have (UnicodeEncodeError is one)."""
    match document:
        case {"format": int(number)} if number != FORMAT:
            raise ValueError(f"it has format {number}, and only {FORMAT} is known here")
        case {"format": int(), "created_at": str(created_at), "version": str(version), "files": list(rows)}:
            return Manifest(created_at, version, tuple(map(_member, rows)))
    raise ValueError("it is not one")


def _member(row: Any) -> Member:
    match row:
        case {"name": str(name), "bytes": int(length), "sha256": str(sha256)} if length >= 0:
            os.fsencode(name)
            return Member(name, length, sha256)
    raise ValueError("a file in it has not name, bytes and sha256")


@contextmanager
def opened(file: Path) -> Iterator[tuple[Manifest, tarfile.TarFile]]:
    """The archive and its list; raises `BackupError`."""
    try:
        with tarfile.open(file, "r:gz") as archive:
            first = archive.next()
            if first is None or first.name != MANIFEST or first.size > _MOST_MANIFEST_BYTES:
                raise BackupError(f"{file} is no backup of ours: it does not begin with {MANIFEST}")
            yield decode(content_of(archive, first).read()), archive
    # `tarfile` raises the last two for numbers in a head that are none, or that nothing can have.
    except (OSError, EOFError, zlib.error, tarfile.TarError, ValueError, OverflowError) as broken:
        raise BackupError(f"{file} cannot be read: {broken}") from None


def content_of(archive: tarfile.TarFile, info: tarfile.TarInfo) -> IO[bytes]:
    """The bytes of a plain file; nothing else is ever taken out."""
    found = archive.extractfile(info) if info.isreg() else None
    if found is None:
        raise BackupError(f"this backup is not trusted: {info.name!r} is no plain file")
    return found


def check_end(archive: tarfile.TarFile) -> None:
    """Behind the last file are zeros, and then the sum over all, which gzip compares."""
    if archive.fileobj.read(2 * tarfile.RECORDSIZE).strip(b"\0"):
        raise BackupError("this backup is not trusted: it holds more than its list names")


def copied(source: IO[bytes], target: IO[bytes], most_bytes: int | None = None) -> tuple[int, str]:
    """Copies all of it, or a little more than `most_bytes`; its length and hash."""
    length, hashed = 0, hashlib.sha256()
    while (most_bytes is None or length <= most_bytes) and (piece := source.read(_PIECE_BYTES)):
        target.write(piece)
        hashed.update(piece)
        length += len(piece)
    return length, hashed.hexdigest()
