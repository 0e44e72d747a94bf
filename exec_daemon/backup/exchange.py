"""One state in the place of another: by renaming, all of it or nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from exec_daemon.backup.archive import BEFORE, BackupError
from exec_daemon.store.sources import utc_now

# Belongs to the process that holds it, or to nobody.
_LOCK: Final = "store.db.lock"


def exchange(root: Path, fresh: Path) -> Path:
    """What is in `fresh` into `root`; the folder in `root` that keeps what was there.

    Raises `BackupError`; then both are as they were.
    """
    before = root / f"{BEFORE}{utc_now().replace(':', '').replace('.', '')}"
    before.mkdir(mode=0o700)
    old = [path for path in sorted(root.iterdir()) if path != fresh and _is_state(path.name)]
    moves = [(path, before / path.name) for path in old]
    moves += [(path, root / path.name) for path in sorted(fresh.iterdir())]
    done: list[tuple[Path, Path]] = []
    try:
        for source, target in moves:
            source.rename(target)
            done.append((source, target))
    except OSError as failed:
        for source, target in reversed(done):
            target.rename(source)
        before.rmdir()
        raise BackupError(f"the state could not be exchanged, and is as it was: {failed}") from None
    return before


def _is_state(name: str) -> bool:
    return name != _LOCK and not name.startswith(BEFORE)
