"""What was taken back since a backup was made stays taken back when the backup is put in place.

Whoever revokes a token or a certificate means it for good, and a restore is a way back for everything else. A
present state that cannot be read, which may be why there is a restore, says nothing.
"""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from exec_daemon.backup.archive import BackupError
from exec_daemon.certificates.authority import Authority
from exec_daemon.certificates.records import read_crl
from exec_daemon.errors import DaemonError
from exec_daemon.home import Home
from exec_daemon.store_on_disk import connect

_REVOKED = "SELECT revoked_at, id FROM tokens WHERE revoked_at IS NOT NULL"
_REVOKE = "UPDATE tokens SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL"


def keep_revoked(present: Home, fresh: Home) -> int:
    """Carries revocations over into `fresh`; how many it did not have. Raises `BackupError`."""
    return _tokens(present, fresh) + _certificates(present, fresh)


def _tokens(present: Home, fresh: Home) -> int:
    revoked: list[tuple[str, str]] = []
    with suppress(sqlite3.Error), closing(connect(present.database)) as db:
        revoked = [(row["revoked_at"], row["id"]) for row in db.execute(_REVOKED)]
    try:
        with closing(sqlite3.connect(fresh.database)) as db, db:
            return sum(db.execute(_REVOKE, token).rowcount for token in revoked)
    except sqlite3.Error as wrong:
        raise BackupError(f"tokens that were revoked since cannot be revoked in it: {wrong}") from None


def _certificates(present: Home, fresh: Home) -> int:
    """By the same authority only: those of another one count for nobody there."""
    try:
        authority = Authority(fresh)
    except DaemonError:
        return 0
    crl = read_crl(present.crl, authority.certificate)
    if crl is None:
        return 0
    _take_over_issued(present.certificates, fresh.certificates)
    revoked = {entry.serial_number: entry.revocation_date_utc for entry in crl}
    return authority.take_over(revoked) if revoked else 0


def _take_over_issued(present: Path, fresh: Path) -> None:
    """Certificates that were issued since: what is not listed cannot be revoked."""
    for path in present.glob("*.pem"):
        place = fresh / path.name
        if not place.exists():
            shutil.copyfile(path, place, follow_symlinks=False)
