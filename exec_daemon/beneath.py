"""Files that a caller names by path: only below folders that are open to it, and never through a link."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from contextlib import suppress
from io import BufferedReader
from pathlib import Path
from typing import Final

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# O_NONBLOCK: opening a FIFO must not hang before the check.
_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK


def open_beneath(folders: Sequence[Path], path: str) -> BufferedReader | None:
    """The regular file that `path` names: relative to the first folder, or absolute below any of them.

    None for every other path, for a missing file, and where a component below the folder is a link: each
    is opened by itself, so that nobody can put one there between a check and the use.
    """
    for folder in folders:
        names = _below(folder, path)
        if names is not None:
            with suppress(OSError, ValueError):
                return _opened(folder, names)
    return None


def _below(folder: Path, path: str) -> tuple[str, ...] | None:
    """The components of `path` below `folder`; None where it leads elsewhere or to the folder itself."""
    whole = folder / path
    if ".." in whole.parts or not whole.is_relative_to(folder):
        return None
    return whole.relative_to(folder).parts or None


def _opened(folder: Path, names: tuple[str, ...]) -> BufferedReader | None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for name in names[:-1]:
            outer, descriptor = descriptor, os.open(name, _FOLDER, dir_fd=descriptor)
            os.close(outer)
        file = os.fdopen(os.open(names[-1], _READ, dir_fd=descriptor), "rb")
    finally:
        os.close(descriptor)
    if stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        return file
    file.close()
    return None
