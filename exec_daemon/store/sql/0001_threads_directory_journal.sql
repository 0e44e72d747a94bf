-- Threads and messages -------------------------------------------------------------------------------

CREATE TABLE threads (
    number     INTEGER PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,
    title      TEXT NOT NULL,
    agent      TEXT,
    created_at TEXT NOT NULL,
    active_at  TEXT NOT NULL,
    last_seq   INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX threads_by_activity ON threads (active_at);
CREATE INDEX threads_of_agent ON threads (agent, active_at) WHERE agent IS NOT NULL;

-- AUTOINCREMENT: a position is never given twice, so that a reader that stands at one misses nothing.
CREATE TABLE messages (
    position    INTEGER PRIMARY KEY AUTOINCREMENT,
    id          TEXT NOT NULL UNIQUE,
    thread      TEXT NOT NULL REFERENCES threads (id),
    seq         INTEGER NOT NULL,
    author      TEXT NOT NULL,
    author_kind TEXT NOT NULL,
    kind        TEXT NOT NULL,
    body        TEXT NOT NULL,
    created_at  TEXT NOT NULL,
    in_reply_to TEXT,
    job_id      TEXT,
    key         TEXT,
    UNIQUE (thread, seq)
) STRICT;

CREATE UNIQUE INDEX messages_once ON messages (thread, key) WHERE key IS NOT NULL;
CREATE INDEX messages_that_are_replies ON messages (position) WHERE author_kind = 'agent' AND kind = 'text';

-- O-83: the log of messages is append-only.
CREATE TRIGGER messages_are_never_changed BEFORE UPDATE ON messages
BEGIN SELECT RAISE (ABORT, 'messages are append-only'); END;
CREATE TRIGGER messages_are_never_deleted BEFORE DELETE ON messages
BEGIN SELECT RAISE (ABORT, 'messages are append-only'); END;

-- Directory ------------------------------------------------------------------------------------------

CREATE TABLE agents (
    name   TEXT PRIMARY KEY,
    thread TEXT NOT NULL REFERENCES threads (id),
    role   TEXT NOT NULL
) STRICT;

CREATE TABLE cursors (
    name     TEXT PRIMARY KEY,
    position INTEGER NOT NULL
) STRICT;

CREATE TABLE tokens (
    number       INTEGER PRIMARY KEY,
    id           TEXT NOT NULL UNIQUE,
    sha256       TEXT NOT NULL UNIQUE,
    identity     TEXT NOT NULL,
    created_at   TEXT NOT NULL,
    expires_at   TEXT,
    scopes       TEXT NOT NULL,
    last_used_at TEXT,
    revoked_at   TEXT
) STRICT;

-- Journal --------------------------------------------------------------------------------------------

-- AUTOINCREMENT: audit lines outlive jobs and go by the same number.
CREATE TABLE jobs (
    number         INTEGER PRIMARY KEY AUTOINCREMENT,
    id             TEXT NOT NULL UNIQUE,
    identity       TEXT NOT NULL,
    call_id        TEXT NOT NULL,
    holds_call     INTEGER NOT NULL DEFAULT 1,
    digest         TEXT NOT NULL,
    op             TEXT NOT NULL,
    args           TEXT NOT NULL,
    side_effecting INTEGER NOT NULL,
    effects_inside INTEGER NOT NULL,
    thread         TEXT,
    reply          TEXT,
    on_behalf_of   TEXT,
    state          TEXT NOT NULL,
    created_at     TEXT NOT NULL,
    ended_at       TEXT,
    duration_ms    REAL,
    result         TEXT,
    error          TEXT
) STRICT;

-- docs/why/once.md: of all jobs with one call id, one at most stands for it.
CREATE UNIQUE INDEX jobs_once ON jobs (identity, call_id) WHERE holds_call = 1;
CREATE INDEX jobs_of_identity ON jobs (identity);
CREATE INDEX jobs_in_state ON jobs (state);

-- The payload of a terminal event is NULL: the job's row holds the result, which may be large.
CREATE TABLE job_events (
    job     INTEGER NOT NULL REFERENCES jobs (number),
    seq     INTEGER NOT NULL,
    ts      TEXT NOT NULL,
    type    TEXT NOT NULL,
    payload TEXT,
    PRIMARY KEY (job, seq)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX job_events_end_once ON job_events (job) WHERE type IN ('succeeded', 'failed');

-- O-34. `seq` is the number of the job.
CREATE TABLE audit (
    seq         INTEGER PRIMARY KEY,
    at          TEXT NOT NULL,
    identity    TEXT NOT NULL,
    op          TEXT NOT NULL,
    args_digest TEXT NOT NULL,
    call_id     TEXT NOT NULL,
    outcome     TEXT NOT NULL,
    duration_ms REAL
) STRICT;
