-- Timers and their runs (T-60 to T-71, O 7.7) -------------------------------------------------------------

-- `plan` is what was asked for, as JSON. `version` counts changes: who changes a timer says which version it
-- has seen, and comes too late when that is no longer the present one. `next_at` is `next_due` with jitter.
CREATE TABLE timers (
    number     INTEGER PRIMARY KEY,
    id         TEXT NOT NULL UNIQUE,
    name       TEXT NOT NULL,
    created_by TEXT NOT NULL,
    agent      TEXT NOT NULL,
    plan       TEXT NOT NULL,
    state      TEXT NOT NULL,
    reason     TEXT,
    next_due   TEXT,
    next_at    TEXT,
    last_due   TEXT,
    sent       INTEGER NOT NULL,
    failures   INTEGER NOT NULL,
    version    INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL
) STRICT;

-- T-55: a name that is given again takes nobody's timer away.
CREATE UNIQUE INDEX timers_by_name ON timers (created_by, name) WHERE state IN ('active', 'paused');
CREATE INDEX timers_by_time ON timers (next_at) WHERE state = 'active' AND next_at IS NOT NULL;

-- T-69: one row for each time at which a timer was due, written before anything is sent. A skipped row may
-- stand for `slots` of them, the last of which is `upto`. `wake_at` is when the run is looked at again.
CREATE TABLE timer_runs (
    timer    TEXT NOT NULL REFERENCES timers (id),
    due      TEXT NOT NULL,
    at       TEXT NOT NULL,
    state    TEXT NOT NULL,
    outcome  TEXT,
    summary  TEXT,
    slots    INTEGER NOT NULL,
    upto     TEXT,
    job      TEXT UNIQUE,
    thread   TEXT,
    message  TEXT,
    reply    TEXT,
    nudged   INTEGER NOT NULL,
    deadline TEXT,
    wake_at  TEXT,
    ended_at TEXT,
    PRIMARY KEY (timer, due)
) STRICT, WITHOUT ROWID;

CREATE INDEX timer_runs_open ON timer_runs (thread, at) WHERE state IN ('open', 'blocked');
CREATE INDEX timer_runs_to_wake ON timer_runs (wake_at) WHERE wake_at IS NOT NULL;
CREATE INDEX timer_runs_of_reply ON timer_runs (reply) WHERE reply IS NOT NULL;
