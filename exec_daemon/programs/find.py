"""From a program's name to a file that nobody but root or the daemon's own user can have put there.

A file is opened once, and what was opened is what is checked and run: there is no moment at which another
could take its place. A script is read again by its interpreter, under its path; so for a script each folder
on the way has to be safe as well.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from exec_daemon.programs.errors import NO_ROOM, Overloaded, Unusable
from exec_daemon.programs.program import ENVIRONMENT

_SCRIPT: Final = b"#!"


@dataclass(frozen=True, slots=True)
class Found:
    """A file that may be run. `script` is where it really is, for a script: it is run by that."""

    descriptor: int
    script: str | None


@contextmanager
def found(name: str) -> Iterator[Found]:
    """The program of this name or absolute path, open inside the block. Raises `Unusable`."""
    descriptor = _open(name)
    try:
        yield _checked(name, descriptor)
    finally:
        os.close(descriptor)


def _open(name: str) -> int:
    for path in _candidates(name):
        try:
            return _opened(path)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except ValueError:
            raise Unusable(name, "has a NUL in its name") from None
        except OSError as failed:
            if failed.errno in NO_ROOM:
                raise Overloaded(f"no descriptor for {name}: {failed.strerror}") from None
            raise Unusable(name, "cannot be opened") from None
    raise Unusable(name, "is missing")


def _candidates(name: str) -> Iterator[str]:
    if "/" not in name:
        yield from (f"{folder}/{name}" for folder in ENVIRONMENT["PATH"].split(":"))
    elif name.startswith("/"):
        yield name
    else:
        raise Unusable(name, "is a relative path; write an absolute one")


def _opened(path: str) -> int:
    try:
        return os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except PermissionError:  # a program that may be run and not read: no script then
        return os.open(path, os.O_PATH | os.O_CLOEXEC)


def _checked(name: str, descriptor: int) -> Found:
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or not status.st_mode & 0o111:
        raise Unusable(name, "is not executable")
    if not _is_ours(status):
        raise Unusable(name, "may be changed by others: chown it to root or the daemon's user, chmod go-w")
    if not _begins_as_script(descriptor):
        return Found(descriptor, None)
    path = Path(f"/proc/self/fd/{descriptor}").readlink()
    _check_folders(name, path)
    return Found(descriptor, str(path))


def _is_ours(status: os.stat_result) -> bool:
    """Can only root and the daemon's own user change it?"""
    own_groups = (0, os.getegid())
    by_group = status.st_mode & stat.S_IWGRP and status.st_gid not in own_groups
    return status.st_uid in (0, os.geteuid()) and not status.st_mode & stat.S_IWOTH and not by_group


def _begins_as_script(descriptor: int) -> bool:
    try:
        return os.pread(descriptor, len(_SCRIPT), 0) == _SCRIPT
    except OSError:  # opened without reading
        return False


def _check_folders(name: str, path: Path) -> None:
    for folder in path.parents:
        status = folder.stat()
        # In a folder like /tmp anybody may make files, and only their owner may replace them.
        if not _is_ours(status) and not (status.st_mode & stat.S_ISVTX and status.st_uid == 0):
            raise Unusable(name, "is a script in a folder that others may change")
