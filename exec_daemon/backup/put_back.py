"""An archive into the state: all of it is unpacked and checked beside the state before anything is replaced.

A daemon that runs is asked to end, and kept from starting until all is in place; what supervises it starts it
again. What was there is kept in a folder of its own.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from exec_daemon.backup.archive import BackupError, Manifest, check_end, content_of, copied, opened
from exec_daemon.backup.exchange import exchange
from exec_daemon.backup.revoked import keep_revoked
from exec_daemon.errors import HomeUnusable
from exec_daemon.home import Home, prepare
from exec_daemon.store.errors import StoreError
from exec_daemon.store.sqlite import schema
from exec_daemon.store.sqlite.check import check
from exec_daemon.store.sqlite.lock import RESTORING, Ownership

# Longer than the daemon's own drain.
_STOP_S: Final = 20.0
_POLL_S: Final = 0.05


@dataclass(frozen=True, slots=True)
class Restored:
    """`before` holds what was there; `revoked` is how many revocations are younger and stay in force."""

    manifest: Manifest
    before: Path
    revoked: int


def put_back(
    home: Home, file: Path, *, step: Callable[[int, int], None] = lambda _done, _all: None
) -> Restored:
    """Puts the archive's state in place.

    Raises `BackupError`; then the state is as it was.
    """
    prepare(home.root)
    with tempfile.TemporaryDirectory(dir=home.root, prefix=".restore-") as folder:
        fresh = Path(folder)
        with opened(file) as (manifest, archive):
            _check_room(manifest, fresh)
            _unpack(manifest, archive, fresh, step)
        _check_state(fresh)
        with _stopped(home):
            revoked = keep_revoked(home, Home(fresh))
            return Restored(manifest, exchange(home.root, fresh), revoked)


def _unpack(
    manifest: Manifest, archive: tarfile.TarFile, fresh: Path, step: Callable[[int, int], None]
) -> None:
    done = 0
    for member in manifest.members:
        info = archive.next()
        if info is None or info.name != member.name:
            raise BackupError(f"this backup is incomplete: {member.name} is missing")
        place = fresh / member.name
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "wb") as target:
            found = copied(content_of(archive, info), target, member.bytes)
            os.fsync(target.fileno())
        if found != (member.bytes, member.sha256):
            raise BackupError(f"this backup is damaged: {member.name} is not what its list says")
        done += member.bytes
        step(done, manifest.total_bytes)
    check_end(archive)


def _check_room(manifest: Manifest, fresh: Path) -> None:
    free = shutil.disk_usage(fresh).free
    if manifest.total_bytes > free:
        text = f"this backup is of {manifest.total_bytes:,} bytes, and {free:,} are free: make room first"
        raise BackupError(text)


def _check_state(fresh: Path) -> None:
    """Could a daemon start on it? The folders that every state has are made where the backup has none."""
    try:
        check(fresh / "store.db", schema.newest())
    except (StoreError, OSError) as wrong:
        raise BackupError(f"the store in this backup cannot be used: {wrong}") from None
    try:
        prepare(fresh)
    except HomeUnusable:
        raise BackupError("this backup is not trusted: it has a file in the place of a folder") from None


@contextmanager
def _stopped(home: Home) -> Iterator[None]:
    """No daemon has the store while the context lasts, and one that starts meanwhile waits for its end."""
    ownership = _owned(home.database)
    try:
        yield
    finally:
        ownership.release()


def _owned(database: Path) -> Ownership:
    """The store's lock. Who holds it is asked to end and nobody else: a file may name a stranger's pid."""
    until_s, asked = time.monotonic() + _STOP_S, False
    while True:
        try:
            return Ownership(database, word=RESTORING)
        except StoreError as busy:
            if time.monotonic() > until_s:
                raise BackupError(f"the daemon did not end: {busy}") from None
        asked = asked or _asked_to_end(database)
        time.sleep(_POLL_S)


def _asked_to_end(database: Path) -> bool:
    """TERM to the process that has the lock file open, which says its number in it."""
    lock = database.with_name(database.name + ".lock")
    with contextlib.suppress(OSError, ValueError):
        pid = int(lock.read_text().split()[-1])
        if any(held.samefile(lock) for held in Path(f"/proc/{pid}/fd").iterdir()):
            os.kill(pid, signal.SIGTERM)
            return True
    return False
