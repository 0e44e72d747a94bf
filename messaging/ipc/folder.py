"""A directory that somebody else may write into as well, held by its descriptor (T-35, T-40, T-41).

Every name is looked up in that descriptor and in nothing below a link: who replaces a file or a directory
by a link to somewhere else has it refused, and never read, written or followed.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from itertools import islice
from pathlib import Path
from types import TracebackType
from typing import Final, Self

# T-30, T-40: a message to or from a chat has some kilobytes.
MAX_FILE_BYTES: Final = 1 << 20
# Of more entries than this only so many are looked at; a well-behaved directory holds a handful.
MAX_ENTRIES: Final = 20_000
_DIRECTORY: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# A pipe that is opened for reading would wait for a writer without O_NONBLOCK.
_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_CREATE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class NotPlainError(Exception):
    """What stands under the name is not what may be read: `problem` says what it is."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem


class Folder:
    """An open directory. Close it, or use it as a context manager. Methods raise OSError as `os` does."""

    def __init__(self, descriptor: int) -> None:
        self._fd = descriptor

    @classmethod
    def at(cls, path: Path, *, create: bool = False) -> Self:
        """The directory at a path that the caller trusts; its last part may be no link."""
        if create:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
        return cls(os.open(path, _DIRECTORY))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, raised: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give the descriptor back."""
        os.close(self._fd)

    def fileno(self) -> int:
        """The descriptor."""
        return self._fd

    def child(self, name: str, *, create: bool = False) -> Self:
        """A directory in this one; a link to a directory is refused."""
        if create:
            with contextlib.suppress(FileExistsError):
                os.mkdir(name, 0o700, dir_fd=self._fd)
        return type(self)(os.open(name, _DIRECTORY, dir_fd=self._fd))

    def names(self, ending: str = ".json", most: int = MAX_ENTRIES) -> list[str]:
        """The names that end so, sorted; at most `most` entries are looked at."""
        with os.scandir(self._fd) as entries:
            return sorted(entry.name for entry in islice(entries, most) if entry.name.endswith(ending))

    def has(self, name: str) -> bool:
        """Does anything stand under this name, be it a broken link?"""
        try:
            os.lstat(name, dir_fd=self._fd)
        except OSError:
            return False
        return True

    def read(self, name: str, most_bytes: int = MAX_FILE_BYTES) -> bytes:
        """The content of a regular file that has no other name; raises `NotPlainError` for anything else."""
        # To open a device is to use it, so what it is is asked before as well as behind.
        _check_plain(os.lstat(name, dir_fd=self._fd), most_bytes)
        descriptor = os.open(name, _READ, dir_fd=self._fd)
        with os.fdopen(descriptor, "rb") as file:
            _check_plain(os.fstat(descriptor), most_bytes)
            content = file.read(most_bytes + 1)
        if len(content) > most_bytes:  # it grew since
            raise NotPlainError(f"it has over {most_bytes:,} bytes")
        return content

    def write(self, name: str, content: bytes, *, durable: bool = False) -> None:
        """Whole or not at all, in place of whatever stands there; of a link the link goes, not its target."""
        self.stage(name, content, durable=durable)
        self.publish(name, durable=durable)

    def stage(self, name: str, content: bytes, *, durable: bool = False) -> None:
        """Write `<name>.tmp`, which no reader looks at."""
        with contextlib.suppress(FileNotFoundError):
            self.clear(f"{name}.tmp")
        descriptor = os.open(f"{name}.tmp", _CREATE, 0o600, dir_fd=self._fd)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            if durable:
                os.fsync(descriptor)

    def publish(self, name: str, *, durable: bool = False) -> None:
        """Rename what was staged; raises FileNotFoundError when that has happened already."""
        try:
            self.move(f"{name}.tmp", self, name)
        except (IsADirectoryError, NotADirectoryError):
            self.clear(name)
            self.move(f"{name}.tmp", self, name)
        if durable:
            os.fsync(self._fd)

    def move(self, name: str, other: Folder, new: str) -> None:
        """Rename into another directory of the same file system, whatever it is; a link stays a link."""
        os.rename(name, new, src_dir_fd=self._fd, dst_dir_fd=other._fd)

    def remove(self, name: str) -> None:
        """Remove a file or a link."""
        os.unlink(name, dir_fd=self._fd)

    def clear(self, name: str, aside: Folder | None = None) -> None:
        """Out of the way, whatever it is: an empty directory goes, a full one gets another name.

        That is in `aside`, or here: a full one takes as long as whoever filled it likes.
        """
        try:
            os.unlink(name, dir_fd=self._fd)
        except (IsADirectoryError, PermissionError):
            try:
                os.rmdir(name, dir_fd=self._fd)
            except OSError:
                self.move(name, aside or self, f"{name[:200]}.{secrets.token_hex(3)}.aside")


def _check_plain(found: os.stat_result, most_bytes: int) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise NotPlainError("it is no regular file")
    if found.st_nlink != 1:
        raise NotPlainError("it has other names as well")
    if found.st_size > most_bytes:
        raise NotPlainError(f"it has over {most_bytes:,} bytes")
