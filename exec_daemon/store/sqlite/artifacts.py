"""What content jobs have kept, in SQL."""

from __future__ import annotations

import sqlite3

from exec_daemon.store.sqlite.statements import insert
from exec_daemon.store.values import Artifact
from messaging import ArtifactRef

# One job may come to the same content twice.
_INSERT = insert("artifacts", ("sha256", "job", "bytes", "content_type")) + " ON CONFLICT DO NOTHING"
_NEWEST = """
    SELECT sha256, bytes, content_type, jobs.id AS job_id, identity
    FROM artifacts JOIN jobs ON jobs.number = artifacts.job
    WHERE sha256 = :sha256 AND (:identity IS NULL OR identity = :identity)
    ORDER BY artifacts.job DESC LIMIT 1
"""


def keep(db: sqlite3.Connection, ref: ArtifactRef, job: int) -> None:
    """As the effect `KeepArtifact` of the job with this number."""
    db.execute(_INSERT, (ref.sha256, job, ref.bytes, ref.content_type))


def artifact(db: sqlite3.Connection, sha256: str, identity: str | None) -> Artifact | None:
    """As the port's `artifact`."""
    row = db.execute(_NEWEST, {"sha256": sha256, "identity": identity}).fetchone()
    return None if row is None else Artifact(**row)
