-- What runs of agents cost (A-02, A-03) -------------------------------------------------------------------

-- NULL: not reported. Money is in millionths of a US dollar, so that sums are exact.
CREATE TABLE agent_runs (
    key                TEXT PRIMARY KEY,
    at                 TEXT NOT NULL,
    agent              TEXT NOT NULL,
    model              TEXT NOT NULL,
    input_tokens       INTEGER,
    output_tokens      INTEGER,
    cache_read_tokens  INTEGER,
    cache_write_tokens INTEGER,
    cost_microusd      INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX agent_runs_by_time ON agent_runs (at);
