-- Answers to RPC requests, by the asker's id (J-07, J-12), and what RPC tasks there are (J-15) -------------

CREATE TABLE rpc_answers (
    identity TEXT NOT NULL,
    id       TEXT NOT NULL,
    digest   TEXT NOT NULL,
    answer   TEXT NOT NULL,
    at       TEXT NOT NULL,
    PRIMARY KEY (identity, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX rpc_answers_by_age ON rpc_answers (identity, at);

CREATE TABLE rpc_tasks (
    identity TEXT NOT NULL,
    id       TEXT NOT NULL,
    provider TEXT NOT NULL,
    model    TEXT,
    folder   TEXT,
    state    TEXT NOT NULL,
    PRIMARY KEY (identity, id)
) STRICT, WITHOUT ROWID;
