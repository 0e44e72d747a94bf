-- Who may do what, as operators set it while the daemon runs (docs/grants.md) ------------------------------

CREATE TABLE grants (
    subject TEXT PRIMARY KEY,
    rules   TEXT NOT NULL,
    set_by  TEXT NOT NULL,
    set_at  TEXT NOT NULL
) STRICT;

-- Calls that wait, or waited, for a person (O-36). One call id asks once.
CREATE TABLE approvals (
    number         INTEGER PRIMARY KEY AUTOINCREMENT,
    id             TEXT NOT NULL UNIQUE,
    identity       TEXT NOT NULL,
    asker          TEXT NOT NULL,
    call_id        TEXT NOT NULL,
    op             TEXT NOT NULL,
    args           TEXT NOT NULL,
    side_effecting INTEGER NOT NULL,
    digest         TEXT NOT NULL,
    scopes         TEXT NOT NULL,
    thread         TEXT,
    reply          TEXT,
    on_behalf_of   TEXT,
    marked_by      TEXT NOT NULL,
    asked_at       TEXT NOT NULL,
    expires_at     TEXT NOT NULL,
    state          TEXT NOT NULL,
    decided_by     TEXT,
    decided_at     TEXT,
    reason         TEXT,
    job_id         TEXT,
    settled        INTEGER NOT NULL DEFAULT 0,
    UNIQUE (identity, call_id)
) STRICT;

-- What still needs the daemon's care: asked and not decided, or decided and not told.
CREATE INDEX approvals_open ON approvals (number) WHERE settled = 0;

-- What an identity has read where, so that what it may do there afterwards can depend on it. `thread` is
-- empty for calls that were not found in a recorded reply: their thread is the asker's own word.
CREATE TABLE chain_marks (
    identity TEXT NOT NULL,
    thread   TEXT NOT NULL,
    mark     TEXT NOT NULL,
    at       TEXT NOT NULL,
    PRIMARY KEY (identity, thread, mark)
) STRICT, WITHOUT ROWID;
