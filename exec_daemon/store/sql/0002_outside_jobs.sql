-- Jobs that run outside and tell their events by callback (M-50 to M-56) -------------------------------

CREATE TABLE outside_jobs (
    id         TEXT PRIMARY KEY,
    identity   TEXT NOT NULL,
    created_at TEXT NOT NULL
) STRICT;

-- `sha256` is of the body as it came: the same key with another body is a conflict (M-53).
CREATE TABLE arrivals (
    job         TEXT NOT NULL REFERENCES outside_jobs (id),
    seq         INTEGER NOT NULL,
    ts          TEXT NOT NULL,
    type        TEXT NOT NULL,
    payload     TEXT NOT NULL,
    sha256      TEXT NOT NULL,
    received_at TEXT NOT NULL,
    PRIMARY KEY (job, seq)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX arrivals_end_once ON arrivals (job) WHERE type IN ('succeeded', 'failed');
