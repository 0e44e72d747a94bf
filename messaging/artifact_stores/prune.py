"""Room in a folder of artifacts: leftovers of a crash go, and the oldest content where there is too much."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

# Some room more than asked for, so that the next artifact does not look through the whole folder again.
_KEPT_SHARE: Final = 0.9


@dataclass(frozen=True, slots=True, order=True)
class _File:
    """Ordered by when it was last put, in nanoseconds."""

    put_at_ns: int
    bytes: int
    path: Path


def sweep(root: Path) -> None:
    """Removes what was not written to its end. Only for whoever has the folder alone."""
    for left in _files(root / "incoming"):
        left.path.unlink(missing_ok=True)


def kept_bytes(root: Path) -> int:
    """How much content is in the folder."""
    return sum(file.bytes for file in _content(root))


def prune(root: Path, most_bytes: int) -> int:
    """Removes what was put longest ago, to nine tenths of `most_bytes`; gives how much is left."""
    files = sorted(_content(root))
    left = sum(file.bytes for file in files)
    if left <= most_bytes:
        return left
    for file in files:
        if left <= most_bytes * _KEPT_SHARE:
            break
        file.path.unlink(missing_ok=True)
        left -= file.bytes
    return left


def _content(root: Path) -> Iterator[_File]:
    with suppress(FileNotFoundError):
        for folder in os.scandir(root / "sha256"):
            if folder.is_dir(follow_symlinks=False):
                yield from _files(Path(folder.path))


def _files(folder: Path) -> Iterator[_File]:
    """Regular files; one that goes while we look is passed over."""
    with suppress(FileNotFoundError):
        for entry in os.scandir(folder):
            if entry.is_file(follow_symlinks=False):
                found = entry.stat(follow_symlinks=False)
                yield _File(found.st_mtime_ns, found.st_size, Path(entry.path))
