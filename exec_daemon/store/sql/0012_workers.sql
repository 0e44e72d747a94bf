-- Workers: agent processes that somebody had started (O 7.2, O 7.5) ----------------------------------------

-- What is wanted stands here, and a host process sees to it. `root` is the identity at the head of the chain
-- of spawns and `depth` how far down it is, so that what one identity may start is counted with what its
-- workers start. `version` counts changes, as with timers.
CREATE TABLE workers (
    number       INTEGER PRIMARY KEY,
    id           TEXT NOT NULL UNIQUE,
    name         TEXT NOT NULL,
    owner        TEXT NOT NULL,
    root         TEXT NOT NULL,
    depth        INTEGER NOT NULL,
    template     TEXT NOT NULL,
    runtime      TEXT NOT NULL,
    cwd          TEXT,
    thread       TEXT NOT NULL REFERENCES threads (id),
    job          TEXT NOT NULL UNIQUE,
    told         TEXT,
    state        TEXT NOT NULL,
    reason       TEXT,
    session      TEXT,
    heartbeat_at TEXT,
    created_at   TEXT NOT NULL,
    updated_at   TEXT NOT NULL,
    ended_at     TEXT,
    version      INTEGER NOT NULL
) STRICT;

CREATE INDEX workers_of_root ON workers (root, created_at);
CREATE INDEX workers_alive ON workers (number) WHERE state NOT IN ('ended', 'failed');
