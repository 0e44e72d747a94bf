-- Artifacts (M-81) --------------------------------------------------------------------------------------

-- The content is a file under its hash. Whoever may see one of its jobs may see it.
CREATE TABLE artifacts (
    sha256       TEXT NOT NULL,
    job          INTEGER NOT NULL REFERENCES jobs (number),
    bytes        INTEGER NOT NULL,
    content_type TEXT NOT NULL,
    PRIMARY KEY (sha256, job)
) STRICT, WITHOUT ROWID;
