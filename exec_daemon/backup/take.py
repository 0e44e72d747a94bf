"""The state into an archive, while the daemon runs: the store by SQLite's own backup, then other files."""

from __future__ import annotations

import io
import os
import shutil
import sqlite3
import stat
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from exec_daemon.backup.archive import MANIFEST, BackupError, Manifest, Member, copied, is_kept
from exec_daemon.home import Home
from exec_daemon.store.sources import utc_now
from exec_daemon.version import version

_PAGES: Final = 2048


def take(
    home: Home, target: Path, *, step: Callable[[int, int], None] = lambda _done, _all: None
) -> Manifest:
    """Writes the archive, whole or not at all, for its owner only; `step` is told bytes done and of all.

    Raises `BackupError`.
    """
    if not home.database.exists():
        raise BackupError(f"there is no store in {home.root}: nothing to back up")
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".inband-backup-") as folder:
            copy = Path(folder)
            _copy(home, copy)
            manifest = Manifest(utc_now(), version(), tuple(_members(copy)))
            _write(manifest, copy, draft, step)
        draft.replace(target)
    except (OSError, sqlite3.Error) as failed:
        raise BackupError(f"the backup could not be made: {failed}") from None
    finally:
        draft.unlink(missing_ok=True)
    return manifest


def _copy(home: Home, copy: Path) -> None:
    """The database first: each artifact that it names is there by then."""
    source = sqlite3.connect(f"{home.database.absolute().as_uri()}?mode=ro", uri=True)
    try:
        with sqlite3.connect(copy / "store.db") as target:
            source.backup(target, pages=_PAGES)
        target.close()
    finally:
        source.close()
    for path in _files(home.root, home.database):
        place = copy / path.relative_to(home.root)
        place.parent.mkdir(parents=True, exist_ok=True)
        try:
            shutil.copyfile(path, place, follow_symlinks=False)
        except FileNotFoundError:  # an artifact that was pruned meanwhile
            continue


def _files(folder: Path, copied_already: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        mode = path.lstat().st_mode
        if path == copied_already or not is_kept(path.name):
            continue
        if stat.S_ISDIR(mode):
            yield from _files(path, copied_already)
        elif stat.S_ISREG(mode):
            yield path


def _members(copy: Path) -> Iterator[Member]:
    for path in sorted(path for path in copy.rglob("*") if path.is_file()):
        with path.open("rb") as content, Path(os.devnull).open("wb") as nowhere:
            length, sha256 = copied(content, nowhere)
        yield Member(path.relative_to(copy).as_posix(), length, sha256)


def _write(manifest: Manifest, copy: Path, draft: Path, step: Callable[[int, int], None]) -> None:
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    done = 0
    with os.fdopen(descriptor, "wb") as file:
        with tarfile.open(fileobj=file, mode="w:gz", compresslevel=6) as archive:
            content = manifest.encode()
            archive.addfile(_entry(MANIFEST, len(content)), io.BytesIO(content))
            for member in manifest.members:
                with (copy / member.name).open("rb") as source:
                    archive.addfile(_entry(member.name, member.bytes), source)
                done += member.bytes
                step(done, manifest.total_bytes)
        file.flush()
        os.fsync(file.fileno())


def _entry(name: str, length: int) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = length, 0o600
    return entry
