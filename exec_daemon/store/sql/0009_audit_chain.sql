-- The audit as a chain: each line's hash covers the line before it (O-34, docs/security.md) ------------------

ALTER TABLE audit RENAME TO audit_before;

-- AUTOINCREMENT: SQLite keeps the last number elsewhere too, so that lines missing at the end are noticed.
CREATE TABLE audit (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    at          TEXT NOT NULL,
    identity    TEXT NOT NULL,
    asked_by    TEXT,
    op          TEXT NOT NULL,
    args_digest TEXT NOT NULL,
    call_id     TEXT NOT NULL,
    job_id      TEXT,
    outcome     TEXT NOT NULL,
    duration_ms REAL,
    hash        TEXT NOT NULL
) STRICT;

-- `chained` is ours (store/sqlite/schema.py): the hash of a line that follows the one it was last asked for.
INSERT INTO audit (seq, at, identity, op, args_digest, call_id, job_id, outcome, duration_ms, hash)
SELECT place, at, identity, op, args_digest, call_id, job_id, outcome, duration_ms,
       chained (place, at, identity, NULL, op, args_digest, call_id, job_id, outcome, duration_ms)
FROM (
    SELECT row_number () OVER (ORDER BY seq) AS place, at, audit_before.identity, audit_before.op, args_digest,
           audit_before.call_id, jobs.id AS job_id, outcome, audit_before.duration_ms
    FROM audit_before LEFT JOIN jobs ON jobs.number = seq
    ORDER BY seq
);

DROP TABLE audit_before;

-- The chain begins behind this line: retention moves it forward, never back, and only to a line that is there.
CREATE TABLE audit_start (
    one  INTEGER PRIMARY KEY CHECK (one = 1),
    seq  INTEGER NOT NULL,
    hash TEXT NOT NULL
) STRICT;

INSERT INTO audit_start (one, seq, hash) VALUES (1, 0, '');

CREATE TRIGGER audit_is_never_changed BEFORE UPDATE ON audit
BEGIN SELECT RAISE (ABORT, 'the audit is append-only'); END;
-- INSERT OR REPLACE removes a row without the triggers of DELETE.
CREATE TRIGGER audit_is_never_replaced BEFORE INSERT ON audit
WHEN EXISTS (SELECT 1 FROM audit WHERE seq = NEW.seq)
BEGIN SELECT RAISE (ABORT, 'the audit is append-only'); END;
CREATE TRIGGER audit_is_deleted_only_before_its_start BEFORE DELETE ON audit
WHEN OLD.seq > (SELECT seq FROM audit_start)
BEGIN SELECT RAISE (ABORT, 'the audit is append-only'); END;
CREATE TRIGGER audit_start_moves_forward BEFORE UPDATE ON audit_start
WHEN NEW.seq <= OLD.seq OR NEW.hash IS NOT (SELECT hash FROM audit WHERE seq = NEW.seq)
BEGIN SELECT RAISE (ABORT, 'the audit starts at a line of its own'); END;
CREATE TRIGGER audit_start_is_never_replaced BEFORE INSERT ON audit_start
BEGIN SELECT RAISE (ABORT, 'the audit starts at a line of its own'); END;
CREATE TRIGGER audit_start_is_never_deleted BEFORE DELETE ON audit_start
BEGIN SELECT RAISE (ABORT, 'the audit is append-only'); END;

-- Who asked, where that is not the one for whom the call ran.
ALTER TABLE jobs ADD COLUMN asked_by TEXT;
